"""Common interface of the systems of a mechanism in all coordinates."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from poinsot.parts.port_rows import closes
from poinsot.ph.gradients import Rule
from poinsot.ph.matrices import Vector
from poinsot.ph.network import Attached
from poinsot.ph.scheme import Scheme
from poinsot.ph.start import require_satisfied
from poinsot.result.observer import Observer
from poinsot.systems.departure import require_one_way
from poinsot.systems.driving import require_driven
from poinsot.systems.layout import Layout
from poinsot.systems.mechanical import VelocityForm
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.observer import MechanismObserver
from poinsot.systems.sizes import size
from poinsot.systems.stiffness import fastest
from poinsot.systems.views import View


@dataclass(frozen=True, eq=False)
class MechanismForm(VelocityForm):
    """A mechanism as x = (coordinates, velocities, multipliers), E = diag(I, M, 0), H = T + V."""

    mechanism: Mechanism
    layout: Layout
    initial: Vector
    #: J is skew and R zero by construction.
    proven = True
    hosts = True

    @abstractmethod
    def directors(self, x: Vector) -> Vector:
        """Return the frames of a state; shape (12 bodies,)."""

    @abstractmethod
    def state_at(self, f: Vector, twists: Vector) -> Vector:
        """Return the state of frames f (12 bodies,) with twists (v, omega), multipliers zero."""

    @abstractmethod
    def rate_at(self, f: Vector, twists: Vector, accelerations: Vector) -> Vector:
        """Return the rate of that state, with accelerations (v', omega'), multipliers constant."""

    @property
    @abstractmethod
    def view(self) -> View:
        """What reads many states at once."""

    @property
    def held(self) -> Mechanism:
        """The mechanism with the constraints that have multipliers."""
        return self.mechanism

    @property
    def start(self) -> Vector:
        """The model's start."""
        return self.initial

    @property
    def default_scheme(self) -> str:
        """The midpoint rule, with velocity constraints if they are there."""
        return "ph-mp-ggl" if self.stabilised else "ph-mp"

    def remembering(self) -> Self:
        """Return the system for one run of Newton's method."""
        mechanism = self.mechanism.remembering()
        return self if mechanism is self.mechanism else replace(self, mechanism=mechanism)

    @property
    def adjustable(self) -> NDArray[np.bool_]:
        """All but positions."""
        return np.arange(self.n) >= self.mechanics.n

    @property
    def parabolic(self) -> bool:
        """Without springs."""
        return not self.mechanism.potentials

    def coordinate_sizes(self, x: Vector) -> Vector:
        """Return lengths of the mechanism for positions, and 1 for the rest."""
        return self.view.sizes(self.mechanism.spans(self.directors(x)))

    def error_sizes(self, x: Vector) -> Vector:
        """Return sizes in which every position counts as the whole mechanism."""
        sizes, f = self.sizes(x), self.directors(x)
        own = self.view.sizes(np.full(len(self.mechanism.inertia), size(self.mechanism, f)))
        sizes[: own.size] = own
        return sizes

    # -- what a run asks of it ----------------------------------------------------------------

    def check_start(self, x: Vector, t: float) -> None:
        """Refuse open joints, and rest in a singular position out of which forces push."""
        q, held = self.directors(x), self.held
        labels = self.labels[self.n - held.m * (1 + self.stabilised) :]
        sizes, gaps = held.gap_sizes(q), held.constraints(q)
        rows = ("the constraint ", labels, gaps, sizes, "the coordinates")
        require_satisfied(self.name, [rows])
        rates = self.view.rates(x[None], self.view.bodies).reshape(-1)
        require_driven(self.mechanism.held, q, rates, t)
        require_one_way(self.mechanism.held, q, rates, t, self.u(t))

    def exact_under(self, scheme: Scheme) -> bool:
        """Yes under the midpoint rule as well, in which springs have discrete gradients."""
        return scheme.rule is Rule.MIDPOINT or super().exact_under(scheme)

    def fastest(self, x: Vector) -> tuple[str, float] | None:
        """Return the force that vibrates fastest, and its period [s]."""
        return fastest(self.mechanism, self.directors(x))

    def diagnose(self, t0: float, x0: Vector, h: float) -> str:
        """Return what is the matter with contacts or joints."""
        rates = self.view.rates(x0[None], self.view.bodies).reshape(-1)
        return self.layout.diagnose(self.mechanism.held, self.directors(x0), rates, h)

    def check_step(self, t0: float, x0: Vector, x1: Vector, x_mid: Vector, h: float) -> None:
        """Refuse a step after which turns, a contact or a branch of the motion are lost."""
        q0, q1 = self.directors(x0), self.directors(x1)
        self.layout.require_turns(q0, q1)
        self.mechanism.require_followed(q0, (q0 + q1) / 2)
        self.layout.require_contact(q0, q1)
        rates = self.view.rates(x0[None], self.view.bodies).reshape(-1)
        for loop in self.layout.closed:
            loop.require_same_branch(self.mechanism.held, q0, rates, q1, h)

    @property
    def angle_names(self) -> tuple[str, ...]:
        """Those of the joints."""
        return self.layout.angle_names

    def angles(self, x: Vector) -> Vector:
        """Return the angles of the joints."""
        return self.layout.angles(self.directors(x))

    def near(self, turned: Vector) -> Self:
        """Return the system near angles counted over turns."""
        mechanism = self.mechanism.near(self.layout.counted(turned))
        return self if mechanism is self.mechanism else replace(self, mechanism=mechanism)

    def with_mechanism(self, mechanism: Mechanism, layout: Layout) -> Self:
        """Return the system of another mechanism with as many states."""
        return replace(self, mechanism=mechanism, layout=layout)

    def closed_by(self, networks: Sequence[Attached]) -> Self:
        """Return the system with ports closed by the laws of networks."""
        return replace(self, mechanism=replace(self.mechanism, networks=tuple(networks)))

    def closes(self, inputs: NDArray[np.intp]) -> bool:
        """Return whether networks may close these inputs in the compiled engine, too."""
        return closes(self.mechanism.inlets, inputs)

    def observer(self) -> Observer:
        """Return what looks at bodies and joints."""
        return MechanismObserver(self.layout, self.view, self.stabilised)
