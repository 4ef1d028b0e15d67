r"""Straight beams along their local x axis: mass, stiffness and stress resultants as matrices.

Unknowns are two vectors for each node, in order along the beam: its displacement
:math:`u = (u_x, u_y, u_z)` [m] and its rotation :math:`\theta = (\theta_x, \theta_y, \theta_z)`
[rad], the slopes :math:`\theta_z = u_y'` and :math:`\theta_y = -u_z'` of an Euler-Bernoulli beam.
Axial displacement and torsion are linear in an element, deflections cubic (Hermite)
[BAPM21, sec. 4.3].
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from poinsot.elements.inertia import MassIntegrals
from poinsot.elements.lines import Line, Points, Space
from poinsot.elements.products import pairs, product, square
from poinsot.elements.sections import Shaped
from poinsot.elements.stress import StressField
from poinsot.errors import InputError
from poinsot.inputs import count, numbers, positive
from poinsot.ph.matrices import Array, Matrix, Vector

#: The unknowns of a node, in order.
COMPONENTS: Final = ("u_x", "u_y", "u_z", "theta_x", "theta_y", "theta_z")
#: The rotation that is the slope of a deflection, and its sign.
_SLOPES: Final = {1: (5, 1.0), 2: (4, -1.0)}
#: The shear modulus follows from Young's modulus; `__post_init__` replaces it by a number.
_ISOTROPIC: Final = cast(float, None)
#: Poisson's ratio of a material that only Young's modulus is known of.
_POISSONS_RATIO = 0.3


@dataclass(frozen=True, kw_only=True, eq=False)
class BeamMatrices:
    """The matrices of a uniform straight beam from x = 0 to x = length; n = 6 * nodes unknowns.

    Parameters
    ----------
    length : float
        Length L [m].
    section : CircularSection, RectangularSection or Section
        Cross-section, its axes 1 and 2 along y and z.
    density : float
        Mass a volume [kg/m^3].
    youngs_modulus, shear_modulus : float
        E and G [Pa]; without G, the material is isotropic with Poisson's ratio 0.3.
    elements : int or sequence of float
        Number of elements of equal length, or the places of all nodes, from 0 to L [m].
    rotary_inertia : bool
        Whether sections have inertia about their axes y and z (Rayleigh beam). That about x always
        counts.
    """

    length: float
    section: Shaped
    density: float
    youngs_modulus: float
    shear_modulus: float = _ISOTROPIC
    elements: int | Sequence[float] = 1
    rotary_inertia: bool = False

    def __post_init__(self) -> None:
        """Refuse what is no beam."""
        if self.shear_modulus is _ISOTROPIC:
            G = positive(self.youngs_modulus, "beam: youngs_modulus") / (2 + 2 * _POISSONS_RATIO)
            object.__setattr__(self, "shear_modulus", G)
        for name in ("length", "density", "youngs_modulus", "shear_modulus"):
            object.__setattr__(self, name, positive(getattr(self, name), f"beam: {name}"))
        if not isinstance(self.section, Shaped):
            raise InputError(
                f"beam: section is {self.section!r}; give a CircularSection, a RectangularSection "
                "or a Section"
            )
        _ = self.line

    @cached_property
    def line(self) -> Line:
        """Nodes and elements along the beam."""
        if isinstance(self.elements, int):
            return Line(np.linspace(0, self.length, count(self.elements, "beam: elements", 1) + 1))
        x = numbers(self.elements, "beam: elements")
        inside = x.ndim == 1 and x.size > 1 and bool(np.all(np.diff(x) > 0))
        if not inside or x[0] != 0 or not np.isclose(x[-1], self.length, rtol=1e-12, atol=0):
            raise InputError(
                f"beam: the node positions are {self.elements!r}; give increasing numbers "
                f"from 0 to the length, {self.length:g} m"
            )
        return Line(x)

    @property
    def n(self) -> int:
        """Number of unknowns, six for each node."""
        return 6 * self.line.nodes.size

    # -- the fields ------------------------------------------------------------------------------

    def displacement(self, points: Points) -> tuple[sp.csr_array, ...]:
        """Return u_x, u_y, u_z at points as matrices of the unknowns; each (points, n)."""
        return (
            self._field(points, "P1", 0),
            self._field(points, "Hermite", 1),
            self._field(points, "Hermite", 2),
        )

    def rotation(self, points: Points) -> tuple[sp.csr_array, ...]:
        """Return theta_x, theta_y = -u_z', theta_z = u_y' at points; each (points, n)."""
        return (
            self._field(points, "P1", 3),
            -self._field(points, "Hermite", 2, derivative=1),
            self._field(points, "Hermite", 1, derivative=1),
        )

    def strain(self, points: Points) -> tuple[sp.csr_array, ...]:
        """Return u_x', theta_x', theta_y' = -u_z'', theta_z' = u_y'' at points; each (points, n).

        They are what n, the torque, m_y and m_z work on.
        """
        return (
            self._field(points, "P1", 0, derivative=1),
            self._field(points, "P1", 3, derivative=1),
            -self._field(points, "Hermite", 2, derivative=2),
            self._field(points, "Hermite", 1, derivative=2),
        )

    def resultants(self, points: Points) -> tuple[sp.csr_array, ...]:
        """Return n, q_y = -m_z', q_z = m_y', the torque, m_y and m_z at points; each (points, n).

        Forces [N] and moments [N m] of what lies beyond a section on what lies before it.
        """
        EA, GJ, EIy, EIz = self.rigidities
        stretch, twist, bend_y, bend_z = self.strain(points)
        return (
            EA * stretch,
            -EIz * self._field(points, "Hermite", 1, derivative=3),
            -EIy * self._field(points, "Hermite", 2, derivative=3),
            GJ * twist,
            EIy * bend_y,
            EIz * bend_z,
        )

    def at(self, places: ArrayLike) -> sp.csr_array:
        """Return displacement and rotation at places x [m] as a matrix of the unknowns.

        Shape (6 * places, n): u_x, u_y, u_z, theta_x, theta_y, theta_z of the first place, and so
        on. Its transpose maps forces and torques there to the unknowns.
        """
        points = self.line.at(places)
        fields = [*self.displacement(points), *self.rotation(points)]
        by_component = sp.vstack(fields, format="csr")
        order = np.arange(by_component.shape[0]).reshape(6, -1).T.ravel()
        return sp.csr_array(by_component[order])

    def _field(
        self, points: Points, space: Space, component: int, derivative: int = 0
    ) -> sp.csr_array:
        """Return a field, whose value at each node is a component of its unknowns."""
        shapes = self.line.sample(space, points, derivative=derivative)
        k = np.arange(shapes.shape[1])
        columns, signs = 6 * k + component, np.ones(k.size)
        if space == "Hermite":
            slope, sign = _SLOPES[component]
            columns = 6 * (k // 2) + np.where(k % 2, slope, component)
            signs[1::2] = sign
        place = sp.coo_array((signs, (k, columns)), shape=(k.size, self.n))
        return sp.csr_array(shapes @ sp.csr_array(place))

    # -- inertia ---------------------------------------------------------------------------------

    @property
    def positions(self) -> Vector:
        """Values of the unknowns for which displacement is the place, u = (x, 0, 0); (n,)."""
        X = np.zeros(self.n)
        X[0::6] = self.line.nodes
        return X

    @property
    def rigid(self) -> Array:
        """Unknowns that a rigid motion (v, Omega) of the frame at x = 0 stands for; (n, 6).

        The finite elements hold these motions exactly: K @ rigid = 0.
        """
        R, x = np.zeros((self.n, 6)), self.line.nodes
        for component in range(6):
            R[component::6, component] = 1
        R[1::6, 5], R[2::6, 4] = x, -x
        return R

    @cached_property
    def integrals(self) -> MassIntegrals:
        """Integrals of the mass for all n unknowns; restrict them by `of`."""
        points = self.line.gauss
        line_mass = self.density * self.section.constants[0]
        M = pairs(line_mass * points.weight, self.displacement(points))
        section_M = sp.csr_array((self.n, self.n))
        for I, turning in zip(self._section_moments, self.rotation(points), strict=True):
            section_M = section_M + square(self.density * I * points.weight, turning)
        m, L = line_mass * self.length, self.length
        X, R = self.positions, self.rigid
        return MassIntegrals(
            mass=m,
            first_moment=np.array([m * L / 2, 0, 0]),
            euler=np.diag([m * L**2 / 3, 0, 0]),
            S=np.array([M[a][a] @ R[:, a] for a in range(3)]),
            moments=np.array([[M_ab.T @ X for M_ab in row] for row in M]),
            pairs=M,
            section_inertia=self.density * L * np.diag(self._section_moments),
            section_S=np.asarray((section_M @ R[:, 3:]).T),
            section_M=section_M,
        )

    @property
    def _section_moments(self) -> tuple[float, float, float]:
        """Moments of area that have inertia when sections turn about x, y, z [m^4]."""
        (_, I1, I2, _), bent = self.section.constants, float(self.rotary_inertia)
        return I1 + I2, bent * I1, bent * I2

    @property
    def M(self) -> Matrix:
        """Consistent mass matrix of the unknowns, sparse; (n, n)."""
        return self.integrals.M

    # -- elasticity ------------------------------------------------------------------------------

    @property
    def rigidities(self) -> tuple[float, float, float, float]:
        """EA [N], GJ, EIy, EIz [N m^2]: what n, the torque, m_y, m_z are a strain."""
        E, G, (A, I1, I2, J) = self.youngs_modulus, self.shear_modulus, self.section.constants
        return E * A, G * J, E * I1, E * I2

    @cached_property
    def K(self) -> sp.csr_array:
        """Stiffness matrix; (n, n). That of the displacement method and of discontinuous stress."""
        points = self.line.gauss
        total = sp.csr_array((self.n, self.n))
        for rigidity, strain in zip(self.rigidities, self.strain(points), strict=True):
            total = total + square(rigidity * points.weight, strain)
        return sp.csr_array(total)

    def stress(
        self, spaces: Literal["discontinuous", "continuous"] = "discontinuous"
    ) -> StressField:
        """Return n, torque, m_y, m_z as a field of their own, C sigma = D u [BAPM21, eq. (34)].

        `"discontinuous"`: n and torque constant, moments linear in each element, by their values
        at its start and end. C is block diagonal, stress follows element by element, and
        D^T C^-1 D = K. `"continuous"`: the spaces of [BAPM21, sec. 4.3], linear for n and torque,
        Hermite for moments.
        """
        spaces_of: dict[str, tuple[Space, Space]] = {
            "discontinuous": ("P0", "discontinuous P1"),
            "continuous": ("P1", "Hermite"),
        }
        if spaces not in spaces_of:
            raise InputError(f"beam: spaces is {spaces!r}; give 'discontinuous' or 'continuous'")
        force, moment = spaces_of[spaces]
        points = self.line.gauss
        C, D = [], []
        for space, rigidity, strain in zip(
            (force, force, moment, moment), self.rigidities, self.strain(points), strict=True
        ):
            shapes = self.line.sample(space, points)
            C.append(square(points.weight / rigidity, shapes))
            D.append(product(points.weight, shapes, strain))
        names = ("n", "torque", "m_y", "m_z")
        sizes = [block.shape[0] for block in C]
        return StressField.of(dict(zip(names, sizes, strict=True)), sp.block_diag(C), sp.vstack(D))

    def geometric_stiffness(
        self, axial_force: float | Callable[[Array], ArrayLike]
    ) -> sp.csr_array:
        r"""Return :math:`\int n_0 (u_y'^\top u_y' + u_z'^\top u_z')\, dx`; (n, n).

        The stiffness that a tension :math:`n_0(x)` [N] adds to deflections [BAPM21, rem. 2]: exact
        for one that is at most cubic in each element. A function gets places x [m] as an array.
        """
        points = self.line.gauss
        x = self.line.places(points)
        n_0 = np.broadcast_to(axial_force(x) if callable(axial_force) else axial_force, x.shape)
        _, turn_y, turn_z = self.rotation(points)
        tension = np.asarray(n_0, dtype=float) * points.weight
        return sp.csr_array(square(tension, turn_y) + square(tension, turn_z))
