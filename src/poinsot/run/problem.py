"""What is to be simulated: a system with its scheme, start, inputs and steps, checked."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import ceil, ulp
from typing import Any, Protocol, Self, TypeAlias, runtime_checkable

from numpy.typing import ArrayLike

from poinsot.errors import InputError, did_you_mean
from poinsot.inputs import count, named, number
from poinsot.parts.controllers import Controller
from poinsot.parts.events import Event, Trigger, absent_ever
from poinsot.parts.joint import Joint
from poinsot.ph.interconnect import feed
from poinsot.ph.matrices import Array, Vector
from poinsot.ph.runner import Clock, counted
from poinsot.ph.scheme import Scheme
from poinsot.ph.signals import Signal
from poinsot.ph.start import check_start
from poinsot.ph.system import PHSystem
from poinsot.result.channels import Known
from poinsot.run.contract import check_structure
from poinsot.schemes.compositions import require_reversible
from poinsot.schemes.records import find_scheme
from poinsot.systems.controlling import Sampled

#: Position, directors as columns, linear and angular momentum of each body.
Motion: TypeAlias = Mapping[str, tuple[Vector, Array, Vector, Vector]]
#: Angles that are given at the start may differ from those of the state by so much [rad].
NEAR = 0.1
#: A step is so many times the distance of two numbers at the times of a run, at least.
RESOLVED = 4
#: Steps of a run, which are counted exactly.
MOST = 10**15


@runtime_checkable
class Compilable(Protocol):
    """A model: something that compiles to a system with a start, and may be written as text."""

    def scheme_for(  # noqa: D102
        self, scheme: str | Scheme | None, coordinates: str | None
    ) -> str | Scheme: ...

    def compile_for(  # noqa: D102
        self, scheme: Scheme, coordinates: str | None = None
    ) -> PHSystem: ...

    def document(  # noqa: D102
        self,
        inputs: Mapping[str, Signal | ArrayLike],
        events: Mapping[str, Event],
        **simulation: Any,
    ) -> Callable[[], str]: ...


@runtime_checkable
class Instrumented(Protocol):
    """A model with joints, sensors, the channels that they record, controllers and events."""

    joints: dict[str, Joint]
    sensors: dict[str, str]
    controllers: dict[str, Controller]
    events: dict[str, Event]

    def trigger(self, name: str, event: Event) -> Trigger: ...  # noqa: D102

    def without(self, names: Collection[str]) -> Self: ...  # noqa: D102

    def locked(self, joint: str, motion: Motion) -> Self: ...  # noqa: D102

    def project_velocities(self) -> None: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Problem:
    """A system with everything that a run of it needs.

    Parameters
    ----------
    system, scheme : PHSystem, Scheme
        What is simulated, its ports fed by inputs and controllers, and how.
    x, turned : (n,), (angles,)
        Where it begins, and the angles of joints there [rad].
    clock : Clock
        Its steps.
    sampled : Sampled
        The controllers of the model.
    sensors : mapping
        Names of sensors -> channels that they record.
    triggers : tuple of Trigger
        The events that are looked for.
    """

    system: PHSystem
    scheme: Scheme
    x: Vector
    turned: Vector
    clock: Clock
    sampled: Sampled
    sensors: Mapping[str, str]
    triggers: tuple[Trigger, ...]

    @classmethod
    def of(
        cls,
        model: PHSystem | Compilable,
        scheme: str | Scheme | None,
        coordinates: str | None,
        span: tuple[float, float, float],
        x0: ArrayLike | Mapping[str, ArrayLike] | None,
        angles: Mapping[str, float] | None,
        inputs: Mapping[str, Signal | ArrayLike] | None,
        events: Mapping[str, Event] | None = None,
        *,
        trusted: bool = False,
    ) -> Self:
        """Return the problem that a user has posed, with (h, t_start, t_end) as span [s].

        `trusted`: another with slightly different numbers was checked.
        """
        system, method = _compiled(model, scheme, coordinates)
        h, t_start, t_end = span
        steps = count_steps(h, t_start, t_end)
        controllers = model.controllers if isinstance(model, Instrumented) else {}
        driven = {port.name: each.name for each in controllers.values() for port in each.drives}
        for port, signal in named(inputs, "inputs", "{'motor': 2.0}").items():
            if port in driven:
                raise InputError(f"inputs: port '{port}' is driven by controller '{driven[port]}'")
            system = feed(system, port, signal)
        sampled = Sampled(controllers.values(), system, h, len(method.substeps))
        system = sampled.feed(system)
        triggers = _triggers(model, system, events)
        x = system.state({} if x0 is None else x0)
        turned = _turned(system, x, angles)
        system = system.near(turned)
        if not trusted:
            system.check_start(x, t_start)
            check_structure(system, x)
        if method.constant_E and system.dE(x, x) is not None:
            raise InputError(
                f"scheme '{method.name}' cannot run system '{system.name}': "
                "its E depends on the state; use 'ph-dg'"
            )
        x = check_start(system, x, t_start)
        continuous = [each.name for each in controllers.values() if each.every is None]
        require_reversible(method, system, x, continuous)
        return cls(
            system=system.in_steps(method, x, h),
            scheme=method,
            x=x,
            turned=turned,
            clock=Clock(t_start, t_end, h, steps, method.substeps),
            sampled=sampled,
            sensors=dict(model.sensors) if isinstance(model, Instrumented) else {},
            triggers=triggers,
        )


def _compiled(
    model: PHSystem | Compilable, scheme: str | Scheme | None, coordinates: str | None
) -> tuple[PHSystem, Scheme]:
    """Return the system of a model in the form that a scheme needs, and the scheme."""
    if isinstance(model, PHSystem):
        if coordinates is not None:
            raise InputError(
                f"coordinates: system '{model.name}' has its own; give a Model to choose them"
            )
        method = find_scheme(model.default_scheme if scheme is None else scheme)
        system = model.in_form(method.formulation)
        if method.stabilised and not system.stabilised:
            raise InputError(
                f"scheme '{method.name}' needs a model, or its system from "
                "model.compile(stabilised=True)"
            )
        return system, method
    if not isinstance(model, Compilable):
        raise InputError(
            f"simulate: expected a Model, a LagrangianSystem or a PHSystem, got {model!r}"
        )
    method = find_scheme(model.scheme_for(scheme, coordinates))
    return model.compile_for(method, coordinates), method


def _triggers(
    model: PHSystem | Compilable, system: PHSystem, events: Mapping[str, Event] | None
) -> tuple[Trigger, ...]:
    """Return the events of a model and those of this run."""
    added = dict(events or {})
    if not isinstance(model, Instrumented):
        known = Known(states={state.name: (state.size, state.unit) for state in system.states})
        triggers = tuple(Trigger.of(name, event, known) for name, event in added.items())
        for trigger in triggers:
            if absent_ever([trigger]):
                raise InputError(
                    f"event '{trigger.name}': Release, Lock and Switch need a Model; for other "
                    "systems use then='record' or 'stop'"
                )
        return triggers
    for name in added.keys() & model.events.keys():
        raise InputError(f"events: the model already has an event '{name}'; choose another name")
    return tuple(model.trigger(name, event) for name, event in (model.events | added).items())


def count_steps(h: float, t_start: float, t_end: float) -> int:
    """Return how many steps of size h [s] there are from start to end, checked."""
    for label, value in (("h", h), ("t_start", t_start), ("t_end", t_end)):
        number(value, label)
    if h <= 0:
        raise InputError(f"the step h is {h:g} s; it must be positive")
    if t_end <= t_start:
        raise InputError(f"t_end = {t_end:g} s is not after t_start = {t_start:g} s")
    if (t_end - t_start) / h > MOST:
        raise InputError(
            f"the step h is {h:g} s, which gives more than {MOST:.0e} steps from t_start = "
            f"{t_start:g} s to t_end = {t_end:g} s; use a larger one, or an earlier end"
        )
    if h < RESOLVED * ulp(latest := max(abs(t_start), abs(t_end))):
        raise InputError(
            f"the step h is {h:g} s, which is lost in the round-off of times near {latest:g} s; "
            "begin at t_start = 0"
        )
    # A span that is a multiple of h but for round-off must not end in a tiny extra step.
    return max(1, ceil((t_end - t_start) / h * (1 - 1e-12) - 1e-9))


def require_saving(every: Any) -> None:
    """Refuse what cannot be a number of steps of which one is saved."""
    if count(every, "save_every", 1) > MOST:
        raise InputError(f"save_every is {every}; it must be at most {MOST:.0e}")


def _turned(system: PHSystem, x: Vector, angles: Mapping[str, float] | None) -> Vector:
    """Return the angles of a state with the turns that were given."""
    names, here = system.angle_names, system.angles(x)
    about = here.copy()
    for name, angle in (angles or {}).items():
        if name not in names:
            raise InputError(f"angles: no angle '{name}'; {did_you_mean(name, names)}")
        about[names.index(name)] = number(angle, f"angles: '{name}'")
    turned = counted(here, about)
    for name, state, given in zip(names, turned, about, strict=True):
        if not abs(state - given) <= NEAR:
            raise InputError(
                f"angles: '{name}' is {given:.6g} rad, while it is {here[names.index(name)]:.6g} "
                "rad in the state; they may differ by full turns only"
            )
    return turned
