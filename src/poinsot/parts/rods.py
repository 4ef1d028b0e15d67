r"""Geometrically exact rods: elastic elements between nodes that are bodies.

An element of length l between two sections is a connection of their frames (`connections`): its six
coordinates chi, divided by l, are the strains of a rod whose strain is constant between them,

.. math:: (\Gamma, K) = \frac{\chi - \chi_0}{l}, \qquad
          V = \frac l2\, (\Gamma, K) \cdot C\, (\Gamma, K)

in directors that are those of the sections, d3 along the axis, as in [BS02], [R04] and [KBE25].
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.body import Body
from poinsot.errors import InputError
from poinsot.frames.relative import many_coordinates
from poinsot.parts.connections import Connection, connected
from poinsot.parts.forces import Force, Placed
from poinsot.parts.joint import Joint
from poinsot.parts.potentials import Potential
from poinsot.parts.resistance import Damper
from poinsot.ph.matrices import Vector
from poinsot.result import Result

Array = NDArray[np.float64]


def chi_of(positions: Array, rotations: Array) -> Array:
    """Return chi between each section and the next [m, rad].

    Positions (..., sections, 3) and rotations (..., sections, 3, 3), directors as columns, to
    (..., sections - 1, 6).
    """
    r, A, B = np.diff(positions, axis=-2), rotations[..., :-1, :, :], rotations[..., 1:, :, :]
    S = np.swapaxes(A, -1, -2) @ B
    x = np.einsum("...ij,...i->...j", (A + B) / 2, r)
    turned = np.stack([S[..., k, j] - S[..., j, k] for j, k in ((1, 2), (2, 0), (0, 1))], axis=-1)
    w = (1 + np.trace(S, axis1=-2, axis2=-1)[..., None]) / 4
    return many_coordinates(np.concatenate([x, turned / 2, w], axis=-1))


@dataclass(frozen=True, eq=False)
class RodElements(Force):
    """The elements of a rod, and its nodes: bodies by number, from `start` to `end`.

    Parameters
    ----------
    nodes : tuple of Body
        Its sections.
    rest : (elements, 6)
        Strains chi of each element in its stress-free state.
    stiffness : (elements, 6, 6)
        Stiffness C of each element: two shears and the extension [N], two curvatures and the twist
        [N m^2].
    damping : (elements, 6, 6)
        Damping D of each element, for rates of the same strains [N s], [N m^2 s]; zero if there is
        none.
    rigid : tuple of int
        Strains that joints hold.
    relaxation : tuple of pairs
        Ratio and time [s] of Maxwell elements.
    """

    nodes: tuple[Body, ...]
    rest: Array
    stiffness: Array
    damping: Array
    rigid: tuple[int, ...] = ()
    relaxation: tuple[tuple[float, float], ...] = ()

    def __len__(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)

    def __getitem__(self, k: int) -> Body:
        """Return a node; negative numbers count from the end."""
        count = len(self.nodes)
        if not isinstance(k, int | np.integer) or not -count <= k < count:
            raise InputError(f"the rod has no node {k!r}; its nodes are 0 to {count - 1}")
        return self.nodes[k]

    def __iter__(self) -> Iterator[Body]:
        """Go through the nodes."""
        return iter(self.nodes)

    @property
    def start(self) -> Body:
        """The first node."""
        return self.nodes[0]

    @property
    def end(self) -> Body:
        """The last node."""
        return self.nodes[-1]

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The nodes."""
        return self.nodes

    @property
    def lengths(self) -> Vector:
        """Arc lengths of the stress-free elements [m]; (elements,)."""
        return np.asarray(np.linalg.norm(self.rest[:, :3], axis=1))

    @cached_property
    def _connections(self) -> list[Connection]:
        pairs = zip(self.nodes[:-1], self.nodes[1:], strict=True)
        return [Connection.of(ab, [x.position for x in ab], [x.R_WB for x in ab]) for ab in pairs]

    def strain(self, result: Result) -> Array:
        """Return the strains of the elements over time; (times, elements, 6).

        Two shears along d1 and d2 and the extension, curvatures about d1 and d2 and the twist
        [1/m]; in excess of those without stress.
        """
        positions = np.stack([result.position(node.name) for node in self.nodes], axis=1)
        rotations = np.stack([result.rotation(node.name) for node in self.nodes], axis=1)
        return self._strain(positions, rotations)

    def _strain(self, positions: Array, rotations: Array) -> Array:
        return np.asarray((chi_of(positions, rotations) - self.rest) / self.lengths[:, None])

    def resultant(self, result: Result) -> Array:
        """Return forces [N] and moments [N m] in the elements over time; (times, elements, 6).

        Along d1, d2 and d3 at the middle of each element: two shear forces and the tension, two
        bending moments and the torque; without damping. Where the rod is rigid, NaN: forces are
        reactions there, such as `result.reaction("rod.element.0").force`. `result.stress` has them
        by name.
        """
        return self._stress(self.strain(result))

    def _stress(self, strain: Array) -> Array:
        stress = np.einsum("eij,tej->tei", self.stiffness, strain)
        stress[:, :, self.rigid] = np.nan
        return np.asarray(stress)

    @property
    def sections(self) -> Vector:
        """Where `resultants` are: middles of the elements, along the arc [m]; (elements,)."""
        return np.asarray(np.cumsum(self.lengths) - self.lengths / 2)

    def resultants(self, positions: Array, rotations: Array) -> Array:
        """Return stress resultants of sections (states, nodes, ...) in the order of beams.

        Tension, shear forces along d1 and d2 [N], torque, bending moments about d1 and d2 [N m];
        (states, elements, 6).
        """
        return self._stress(self._strain(positions, rotations))[:, :, [2, 0, 1, 5, 3, 4]]

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return the potentials and dampers of the elements."""
        potentials: list[Potential] = []
        dampers: list[Damper] = []
        damped = bool(self.damping.any())
        for k, connection in enumerate(self._connections):
            length = self.lengths[k]
            S, D = self.stiffness[k] / length, self.damping[k] / length if damped else None
            springs, pots = connected(name, connection, S, self.rest[k], D, self.relaxation)
            potentials += springs
            dampers += pots
        return potentials, dampers
