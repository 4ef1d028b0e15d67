"""Straight elastic beams with small deformations in a floating frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, cast

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from poinsot.bodies.flexibility import Flexibility, Membrane
from poinsot.bodies.shapes import FROM_DENSITY, Elasticity
from poinsot.bodies.tensors import Array
from poinsot.elements.beams import COMPONENTS, BeamMatrices
from poinsot.elements.conditions import free_unknowns
from poinsot.elements.sections import Shaped
from poinsot.errors import InputError
from poinsot.inputs import number
from poinsot.ph.matrices import dense

#: Along which axis each unknown of a node moves points; a twist moves none.
AXES: Array = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0], [0, 0, 1], [0, 1, 0]], float)
#: Unknowns of a node that a planar beam does not have.
ACROSS = ("u_z", "theta_x", "theta_y")


@dataclass(frozen=True, kw_only=True)
class Beam(Elasticity):
    r"""A straight elastic beam along its x axis, by finite elements in a floating frame.

    .. math::

        \rho A\, \ddot u_x = n', \quad n = E A\, u_x', \qquad
        \rho A\, \ddot u_y = -m_z'', \quad m_z = E I_z\, u_y''

    The equations in z and for torsion are analogous, and the motion of the frame adds its inertial
    terms [BAPM21, eqs. (8) to (14), (32) to (37)]. Elements are linear for axial motion and
    torsion, and Hermite elements without shear for bending. Deformations are small; the motion of
    the frame is not restricted. The reference point (`position`) is the middle of the undeformed
    beam.

    Parameters
    ----------
    length : float
        Length L [m].
    section : CircularSection, RectangularSection or Section
        Cross-section. Its axes 1 and 2 are y and z of the beam: I_y = I1 and I_z = I2.
    density, youngs_modulus, shear_modulus : float
        rho [kg/m^3], E and G [Pa]. Default: G = E/2.6.
    elements : int or sequence of float
        Number of elements, or the positions of all nodes from 0 to L [m].
    held : str or sequence
        Conditions that remove rigid motions from the deformation: `"clamped-free"`,
        `"simply supported"`, or pairs (node, component) such as `(0, "u_x")` [BAPM21, rem. 6]. They
        define the floating frame; they are not joints.
    momenta : {"deformed", "undeformed"}
        `"deformed"`: the mass matrix depends on the deformation [BAPM21, eqs. (8) to (14)].
        `"undeformed"`: it is constant [BAPM21, sec. 4.3].
    stiffening : bool
        Include the potential of axial forces in the bent beam (geometric stiffening)
        [BAPM21, rem. 2].
    planar : bool
        Leave out bending in z and torsion.
    start_mass, end_mass : float
        Point masses at the ends [kg] [BAPM21, eq. (48)].
    damping : float
        Stiffness-proportional damping [s]: the damping matrix is `damping` times the stiffness
        matrix.
    rotary_inertia : bool
        Include the rotary inertia of cross-sections in bending (Rayleigh beam).
    """

    mass: float = FROM_DENSITY
    length: float
    section: Shaped
    density: float
    youngs_modulus: float
    shear_modulus: float | None = None
    elements: int | Sequence[float] = 4
    held: str | Sequence[tuple[int, str]] = "clamped-free"
    momenta: Literal["deformed", "undeformed"] = "deformed"
    stiffening: bool = False
    planar: bool = False
    start_mass: float = 0.0
    end_mass: float = 0.0
    damping: float = 0.0
    rotary_inertia: bool = False

    def __post_init__(self) -> None:
        """Check all parameters and assemble the matrices."""
        for name in ("start_mass", "end_mass", "damping"):
            value = number(getattr(self, name), f"Beam: {name}")
            if value < 0:
                raise InputError(f"Beam: {name} is {value:g}; it cannot be negative")
            object.__setattr__(self, name, value)
        for name in ("stiffening", "planar", "rotary_inertia"):
            if not isinstance(getattr(self, name), bool):
                raise InputError(f"Beam: {name} is {getattr(self, name)!r}, not True or False")
        if self.momenta not in ("deformed", "undeformed"):
            raise InputError(f"Beam: momenta is {self.momenta!r}, not 'deformed' or 'undeformed'")
        if self.mass is not FROM_DENSITY:
            raise InputError("Beam: mass follows from density, section and length; leave it out")
        object.__setattr__(self, "mass", self.flexibility.mass)
        super().__post_init__()

    @cached_property
    def matrices(self) -> BeamMatrices:
        """Matrices of all nodes about the start of the beam, before `held` is applied."""
        stiffness = {} if self.shear_modulus is None else {"shear_modulus": self.shear_modulus}
        return BeamMatrices(
            length=self.length,
            section=self.section,
            density=self.density,
            youngs_modulus=self.youngs_modulus,
            elements=self.elements,
            rotary_inertia=self.rotary_inertia,
            **stiffness,
        )

    @cached_property
    def free(self) -> NDArray[np.intp]:
        """Indices of the nodal unknowns that are elastic coordinates."""
        without = ACROSS if self.planar else ()
        return free_unknowns(self.matrices, cast(Any, self.held), without)

    @cached_property
    def flexibility(self) -> Flexibility:
        """Inertia, stiffness and modes in the floating frame, with its origin at the middle."""
        of, free = self.matrices, self.free
        modes = sp.csc_array((np.ones(free.size), (free, np.arange(free.size))), (of.n, free.size))
        c, places = np.array([self.length / 2, 0.0, 0.0]), of.line.nodes.size
        motion = dense(of.at(of.line.nodes) @ modes).reshape(places, 2, 3, free.size)
        points = np.zeros((places, 3))
        points[:, 0] = of.line.nodes - c[0]
        integrals = of.integrals.of(modes).dense().about(c)
        for k, more in ((0, self.start_mass), (-1, self.end_mass)):
            integrals = integrals.with_point(more, points[k], motion[k, 0])
        K = dense(modes.T @ of.K @ modes)
        return Flexibility(
            integrals=integrals,
            K=K,
            D=self.damping * K,
            points=points,
            Y=motion[:, 0],
            Theta=motion[:, 1],
            groups=self._groups(),
            axes=AXES[free % len(COMPONENTS)],
            deformed=self.momenta == "deformed",
            membrane=self._membrane(modes) if self.stiffening else None,
        )

    def _groups(self) -> NDArray[np.intp]:
        """Return the elastic coordinates of each node in groups of up to three.

        These are the displacements and the rotations in space, or all three of a node in the plane.
        """
        number = np.full(self.matrices.n, -1, dtype=np.intp)
        number[self.free] = np.arange(self.free.size)
        nodes = number.reshape(-1, len(COMPONENTS))
        there_first = np.argsort(nodes < 0, axis=1, kind="stable")
        groups = np.take_along_axis(nodes, there_first, axis=1).reshape(-1, 3)
        return groups[(groups >= 0).any(axis=1)]

    def _membrane(self, modes: sp.csc_array) -> Membrane:
        """Return the mean axial strain of each element, including the shortening by bending."""
        of, lengths = self.matrices, self.matrices.line.lengths
        EA, places = of.rigidities[0], of.line.nodes
        k, e, A = EA * lengths, [], []
        for place, length in zip(places[:-1], lengths, strict=True):
            e.append(dense((of.at([place + length]) - of.at([place])) @ modes)[0] / length)

            def here(x: Array, first: float = place, last: float = place + length) -> Array:
                return np.where((x > first) & (x < last), 1.0, 0.0)

            A.append(dense(modes.T @ of.geometric_stiffness(here) @ modes) / length)
        return Membrane(k, np.array(e), np.array(A))

    @cached_property
    def sections(self) -> Array:
        """Positions of `resultants`: start and end of each element, x [m]; (sections,)."""
        return np.repeat(self.matrices.line.nodes, 2)[1:-1]

    @cached_property
    def _resultants(self) -> Array:
        of = self.matrices.resultants(self.matrices.line.ends)
        return np.array([dense(each[:, self.free]) for each in of])

    def resultants(self, u: Array) -> Array:
        """Return the stress resultants at `sections` for elastic coordinates u (states, n).

        Axial force, shear forces along y and z [N], torque, and bending moments about y and z [N
        m]; (states, sections, 6). With `stiffening`, axial forces include the shortening by
        bending.
        """
        found: Array = np.einsum("rsn,tn->tsr", self._resultants, u)
        membrane = self.flexibility.membrane
        if membrane is not None:
            shortened = np.einsum("ekl,tk,tl->te", membrane.A, u, u, optimize=True) / 2
            found[:, :, 0] += np.repeat(self.matrices.rigidities[0] * shortened, 2, axis=1)
        return found

    @property
    def places(self) -> list[str]:
        """Names of the nodes, `"0"`, `"1"`, ..."""
        return [str(k) for k in range(self.matrices.line.nodes.size)]

    def off(self, X: Array) -> Array:
        """Return the axial distance of a point X of the frame from each node [m]; (nodes,)."""
        return abs(self.flexibility.points[:, 0] - X[0])

    @property
    def euler_B(self) -> Array:
        """Euler tensor of the undeformed beam about its middle [kg m^2]; (3, 3)."""
        J = self.flexibility.integrals.J()
        return np.asarray(np.trace(J) / 2 * np.eye(3) - J)
