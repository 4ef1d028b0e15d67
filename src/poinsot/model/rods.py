"""Elastic rods: from a curve, a cross-section and a material to nodes and elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.shapes import RigidBody
from poinsot.elements.definite import semidefinite
from poinsot.elements.sections import STRAINS, CrossSection, LineProperties, Material
from poinsot.errors import InputError
from poinsot.inputs import count, number, numbers, positive, vector3
from poinsot.model.assemblies import BodyAssembly, Start
from poinsot.parts.joints import perpendicular
from poinsot.parts.relaxation import relaxations
from poinsot.parts.rigid_strains import RIGID, RigidStrains
from poinsot.parts.rods import RodElements, chi_of
from poinsot.so3 import Rotation

if TYPE_CHECKING:
    from poinsot.model.model import Model

Array = NDArray[np.float64]
#: A curve over the share of the rod from 0 to 1, or points of it.
Curve: TypeAlias = Callable[[float], ArrayLike] | ArrayLike
#: Step of differences of curves, as a share of the rod.
DIFFERENCE = 1e-5
#: Sine of the least angle between the axis and what tells the direction of d1.
PARALLEL = 1e-6
#: The largest turn from one node to the next: half of that where an element has none.
STEEPEST = np.pi / 2


@dataclass(frozen=True, eq=False)
class ElasticRod(BodyAssembly):
    """A geometrically exact rod: large displacements and rotations, with shear and extension.

    `model.add_body("rod", ElasticRod(...))` adds nodes `"rod.0"`, `"rod.1"`, ..., which are bodies,
    the markers `"rod.start"` and `"rod.end"` on the first and last node, and the elements `"rod"`.
    It returns `RodElements`, of which `rod.start`, `rod.end` and `rod[3]` are bodies for joints,
    loads and ports. The rod is stress-free at the start, unless `natural` is given.

    Parameters
    ----------
    curve : (points, 3) or callable
        The axis at the start [m]: the two ends of a straight rod, all nodes, or a function of
        s in [0, 1] that returns points.
    section : CrossSection, sequence or callable
        One cross-section for the whole rod, a list with one for each node, or a function of s.
    elements : int
        Number of elements. Default: as many as the points define.
    youngs_modulus, shear_modulus, density : float
        Material [Pa], [kg/m^3]. Left out for a `SectionLaw`.
    normal : (3,)
        Direction of d1 at the start of the rod; only its part across the axis is used. Default: any
        direction across the axis. From there, the sections follow the axis without twist.
    twist : float or callable
        Additional rotation of d1 about the axis [rad]: its value at the end, increasing linearly,
        or a function of s.
    natural : (points, 3) or callable
        The stress-free axis, if it differs from `curve`. Its first section is oriented relative to
        the axis as that of the curve, and its twist is the same.
    damping_time : float or (6,) or (6, 6)
        Kelvin-Voigt damping: time tau of the stresses tau C d/dt(strain) [s]; one value, or six for
        two shears, extension, two curvatures and twist. A matrix is D itself [N s], [N m^2 s].
    relaxation : sequence of pairs
        Maxwell elements in parallel to the rod: each is a pair of its stiffness relative to that
        of the rod and its relaxation time [s]. They are relaxed at the start.
    rigid : str or sequence of str
        Strains that are constrained: `"shear"`, `"extension"` or both. Joints `"rod.element.0"`,
        ...
        keep them at their values at the start; their reactions are the internal forces.
    """

    curve: Curve
    section: CrossSection | Sequence[CrossSection] | Callable[[float], CrossSection]
    elements: int | None = None
    _: KW_ONLY
    youngs_modulus: float | None = None
    shear_modulus: float | None = None
    density: float | None = None
    normal: ArrayLike | None = None
    twist: float | Callable[[float], float] = 0.0
    natural: Curve | None = None
    damping_time: float | ArrayLike = 0.0
    relaxation: Sequence[tuple[float, float]] = ()
    rigid: str | Sequence[str] = ()

    def __post_init__(self) -> None:
        """Compute the nodes, and check all parameters."""
        if self.elements is not None:
            count(self.elements, "ElasticRod: elements", 1)
        if self.normal is not None:
            object.__setattr__(self, "normal", vector3(self.normal, "ElasticRod: normal"))
        given = relaxations(self.relaxation, "ElasticRod: relaxation")
        object.__setattr__(self, "relaxation", given)
        _ = self.rest, self.inertia, self.damping, self.held

    # -- geometry -----------------------------------------------------------------------------

    @cached_property
    def nodes(self) -> tuple[Array, Array]:
        """Positions (nodes, 3) and rotations (nodes, 3, 3) of the sections at the start."""
        points, tangents = self._sampled(self.curve, "curve", self.elements)
        return points, self._sections(tangents, self.normal, "curve")

    @cached_property
    def shares(self) -> Array:
        """Positions of the nodes as fractions of the rod length; (nodes,)."""
        return np.linspace(0.0, 1.0, len(self.nodes[0]))

    @cached_property
    def rest(self) -> Array:
        """Stress-free coordinates chi of the elements [m, rad]; (elements, 6)."""
        points, R = self.nodes
        if self.natural is not None:
            points, tangents = self._sampled(self.natural, "natural", len(points) - 1)
            # The first section keeps its angle about the axis.
            turn = _shortest_turn(R[0, :, 2], tangents[0])
            R = self._sections(tangents, turn @ R[0, :, 0], "natural")
        rest = chi_of(points, R)
        if not (np.linalg.norm(rest[:, 3:], axis=1) < STEEPEST).all():
            raise InputError(
                "ElasticRod: the axis turns by more than a right angle from one node to the next; "
                "use more elements, or two rods connected by a Weld at the corner"
            )
        return rest

    def _sampled(self, curve: Curve, what: str, elements: int | None) -> tuple[Array, Array]:
        """Return nodes on a curve and the unit tangents there."""
        what = f"ElasticRod: {what}"
        if callable(curve):
            if elements is None:
                raise InputError(f"{what} is a function; give the number of elements")
            shares = np.linspace(0.0, 1.0, elements + 1)
            points = np.array([vector3(curve(s), f"{what} at s = {s:g}") for s in shares])
            # At the ends, the slope of a parabola that lies within the rod.
            middle = shares.clip(DIFFERENCE, 1 - DIFFERENCE)
            near = np.array(
                [
                    [vector3(curve(x), what) for x in (s - DIFFERENCE, s, s + DIFFERENCE)]
                    for s in middle.tolist()
                ]
            )
            off = ((shares - middle) / DIFFERENCE)[:, None]
            bend = near[:, 2] - 2 * near[:, 1] + near[:, 0]
            tangents = (near[:, 2] - near[:, 0]) / 2 + off * bend
        else:
            points = numbers(curve, what)
            if points.ndim != 2 or points.shape[1] != 3 or len(points) < 2:
                raise InputError(
                    f"{what}: expected two or more points of three numbers, got shape "
                    f"{points.shape}"
                )
            if not np.isfinite(points).all():
                raise InputError(f"{what} contains NaN or infinity")
            if len(points) == 2 and elements is not None:
                points = np.linspace(points[0], points[1], elements + 1)
            elif elements not in (None, len(points) - 1):
                raise InputError(
                    f"{what} has {len(points)} points, which are the nodes of {len(points) - 1} "
                    f"elements, not of {elements}; leave out `elements`, or give a function"
                )
            _require_lengths(points, what)
            tangents = _tangents(points)
        _require_lengths(points, what)
        return points, tangents / np.linalg.norm(tangents, axis=1)[:, None]

    def _sections(self, tangents: Array, normal: ArrayLike | None, what: str) -> Array:
        """Return directors (nodes, 3, 3) that follow the axis, with the prescribed twist only."""
        d3 = tangents[0]
        if normal is None:
            d1 = perpendicular(d3)[0]
        else:
            given = np.asarray(normal, dtype=float)
            d1 = given - (given @ d3) * d3
            if not np.linalg.norm(d1) > PARALLEL * np.linalg.norm(given):
                raise InputError(f"ElasticRod: normal is along the {what}; give one across")
            d1 = d1 / np.linalg.norm(d1)
        first = np.column_stack([d1, np.cross(d3, d1), d3])
        turned = [first]
        for before, after in pairwise(tangents):
            turned.append(_shortest_turn(before, after) @ turned[-1])
        angles = np.array([self._twisted(s) for s in np.linspace(0, 1, len(tangents)).tolist()])
        about = np.array([Rotation.from_axis_angle((0, 0, 1), angle).matrix for angle in angles])
        return np.asarray(np.array(turned) @ about)

    def _twisted(self, s: float) -> float:
        if callable(self.twist):
            return number(self.twist(s), f"ElasticRod: twist at s = {s:g}")
        return s * number(self.twist, "ElasticRod: twist")

    # -- what it is made of -------------------------------------------------------------------

    @cached_property
    def _material(self) -> Material | None:
        labels = "youngs_modulus", "shear_modulus", "density"
        given = {label: getattr(self, label) for label in labels}
        if all(value is None for value in given.values()):
            return None
        missing = [label for label, value in given.items() if value is None]
        if missing:
            raise InputError(f"ElasticRod: give {' and '.join(missing)} as well")
        checked = {label: positive(value, f"ElasticRod: {label}") for label, value in given.items()}
        return Material(**checked)

    @cached_property
    def properties(self) -> list[LineProperties]:
        """Stiffness and inertia per unit length at each node."""
        given, nodes = self.section, len(self.nodes[0])
        if isinstance(given, CrossSection):
            return [given.properties(self._material)] * nodes
        if not callable(given) and not isinstance(given, Sequence):
            raise InputError(
                f"ElasticRod: section: expected a section such as CircularSection, a list or a "
                f"function of s, got {given!r}"
            )
        sections = [given(s) for s in self.shares.tolist()] if callable(given) else list(given)
        if len(sections) != nodes:
            raise InputError(
                f"ElasticRod: section: {len(sections)} sections for {nodes} nodes; give one, or "
                "one for each node"
            )
        for section in sections:
            if not isinstance(section, CrossSection):
                raise InputError(
                    f"ElasticRod: section: expected a section such as CircularSection, got "
                    f"{section!r}"
                )
        return [section.properties(self._material) for section in sections]

    @cached_property
    def lengths(self) -> Array:
        """Stress-free arc lengths of the elements [m]; (elements,)."""
        return np.asarray(np.linalg.norm(self.rest[:, :3], axis=1))

    @cached_property
    def held(self) -> tuple[int, ...]:
        """Indices of the constrained strains: 0 and 1 are shears, 2 is the extension."""
        given = (self.rigid,) if isinstance(self.rigid, str) else self.rigid
        if not isinstance(given, Sequence) or any(each not in RIGID for each in given):
            raise InputError(
                f"ElasticRod: rigid is {self.rigid!r}; expected {', '.join(map(repr, RIGID))} or "
                "a list of these"
            )
        return tuple(sorted({k for each in given for k in RIGID[each]}))

    @cached_property
    def stiffness(self) -> Array:
        """C of the elements, the mean of both ends, 0 for constrained strains; (elements, 6, 6)."""
        at_nodes = np.array([each.stiffness for each in self.properties])
        C = (at_nodes[:-1] + at_nodes[1:]) / 2
        C[:, self.held] = C[:, :, self.held] = 0.0
        return np.asarray(C)

    @cached_property
    def damping(self) -> Array:
        """D of the elements; (elements, 6, 6)."""
        what = "ElasticRod: damping_time"
        tau = numbers(self.damping_time, what)
        if tau.shape == (STRAINS, STRAINS):
            D = np.array([semidefinite(tau, what, STRAINS)] * len(self.stiffness))
            D[:, self.held] = D[:, :, self.held] = 0.0
            return D
        if tau.shape not in ((), (STRAINS,)) or not np.isfinite(tau).all() or (tau < 0).any():
            raise InputError(f"{what} is {self.damping_time!r}; expected times >= 0 [s]")
        root = np.sqrt(np.broadcast_to(tau, STRAINS))
        return np.asarray(self.stiffness * np.outer(root, root))

    @cached_property
    def inertia(self) -> tuple[Array, Array]:
        """Mass [kg] (nodes,) and moments about d1, d2 and d3 [kg m^2] (nodes, 3).

        Each node has half of the mass of its adjacent elements.
        """
        lengths = self.lengths
        share = (np.append(0.0, lengths) + np.append(lengths, 0.0)) / 2
        mass = share * np.array([each.mass for each in self.properties])
        J1, J2 = share * np.array([each.inertia for each in self.properties]).T
        return mass, np.column_stack([J1, J2, J1 + J2])

    # -- into a model -------------------------------------------------------------------------

    def add_to(self, model: Model, name: str, start: Start) -> RodElements:
        """Add nodes and elements, placed and moved as a whole."""
        points, rotations = self.nodes
        nodes = []
        for k, (mass, inertia) in enumerate(zip(*self.inertia, strict=True)):
            arm = start.R_WB @ points[k]
            velocity, spin = start.velocity, start.angular_velocity
            if spin is not None:
                velocity = np.cross(spin, arm) + (0.0 if velocity is None else velocity)
            body = model.add_body(
                f"{name}.{k}",
                RigidBody(mass=float(mass), inertia=inertia),
                position=start.position + arm,
                rotation=start.R_WB @ rotations[k],
                velocity=velocity,
                angular_velocity=spin,
            )
            nodes.append(body)
        model.mark_ends(name, nodes[0], nodes[-1])
        made_of = self.rest, self.stiffness, self.damping, self.held, tuple(self.relaxation)
        elements = RodElements(tuple(nodes), *made_of)
        model.add_force(name, elements)
        if self.held:
            for k, (ends, chi) in enumerate(zip(pairwise(nodes), chi_of(*self.nodes), strict=True)):
                model.add_joint(f"{name}.element.{k}", RigidStrains(*ends, chi[:3], self.held))
        return elements


def _require_lengths(points: Array, what: str) -> None:
    steps = np.linalg.norm(np.diff(points, axis=0), axis=1)
    if not (steps > 0).all():
        raise InputError(
            f"{what}: element {int(np.argmin(steps))} has zero length; remove the duplicate point"
        )


def _tangents(points: Array) -> Array:
    """Return the tangents at points of a curve, from parabolas through three points."""
    if len(points) == 2:
        return np.repeat(np.diff(points, axis=0), 2, axis=0)
    between = [_slope(*points[k : k + 3]) for k in range(len(points) - 2)]
    first, last = (2 * (b - a) / np.linalg.norm(b - a) for a, b in (points[:2], points[-2:]))
    unit = [each / np.linalg.norm(each) for each in between]
    return np.array([first - unit[0], *unit, last - unit[-1]])


def _slope(a: Array, b: Array, c: Array) -> Array:
    """Return the slope at b of the parabola through a, b, c, or of a line if two coincide."""
    one, two = b - a, c - b
    p, q = float(np.linalg.norm(one)), float(np.linalg.norm(two))
    if p == 0 or q == 0:
        return one + two
    return np.asarray((q / p * one + p / q * two) / (p + q))


def _shortest_turn(a: Array, b: Array) -> Array:
    """Return the rotation about a x b that takes the unit vector a to b."""
    v, c = np.cross(a, b), float(a @ b)
    if c <= -1 + PARALLEL:
        raise InputError(
            "ElasticRod: the axis reverses its direction from one node to the next; use more "
            "elements"
        )
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.asarray(np.eye(3) + K + K @ K / (1 + c))
