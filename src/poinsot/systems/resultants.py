"""Stress resultants of beams and rods, of states in any coordinates."""

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.beam import Beam
from poinsot.bodies.body import Body
from poinsot.bodies.flexible import Flexible
from poinsot.parts.forces import Force
from poinsot.parts.rods import RodElements
from poinsot.systems.views import Indices, View

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Slender(ABC):
    """A beam or rod; `place` (sections,) [m] is where its sections are along it."""

    name: str
    place: Array

    @property
    @abstractmethod
    def bodies(self) -> Indices:
        """Those whose motion tells its deformation."""

    @abstractmethod
    def resultants(self, x: Array, view: View) -> Array:
        """Return stress resultants of the motion of these bodies; (states, sections, 6)."""


@dataclass(frozen=True, eq=False)
class SlenderBeam(Slender):
    """A beam in its floating frame."""

    body: Flexible
    beam: Beam

    @property
    def bodies(self) -> Indices:
        """Its frame."""
        return np.array([self.body.index])

    def resultants(self, x: Array, view: View) -> Array:
        """Return those of its elastic coordinates."""
        return self.beam.resultants(view.deformation(x, self.body.index))


@dataclass(frozen=True, eq=False)
class SlenderRod(Slender):
    """A rod, whose sections are bodies."""

    rod: RodElements

    @property
    def bodies(self) -> Indices:
        """Its nodes."""
        return np.array([node.index for node in self.rod.nodes])

    def resultants(self, x: Array, view: View) -> Array:
        """Return those of its nodes."""
        q = view.directors(x, self.bodies)
        R_PB = np.array([node.principal.R_BP.T for node in self.rod.nodes])
        return self.rod.resultants(q[:, :, 0], np.swapaxes(q[:, :, 1:], 2, 3) @ R_PB)


def slender(bodies: Iterable[Body], forces: Iterable[tuple[str, Force]]) -> tuple[Slender, ...]:
    """Return the beams and rods of a mechanism."""
    beams = [
        SlenderBeam(body.name, body.shape.sections, body, body.shape)
        for body in bodies
        if isinstance(body, Flexible) and isinstance(body.shape, Beam)
    ]
    rods = [
        SlenderRod(name, force.sections, force)
        for name, force in forces
        if isinstance(force, RodElements)
    ]
    return *beams, *rods
