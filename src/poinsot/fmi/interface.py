"""The variables of an FMU, and what they are in the model and in files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, Self, TypeAlias

from poinsot.errors import InputError
from poinsot.fmi.stepping import Stepping, inputs_of, own_ports
from poinsot.model import Model, Simulation
from poinsot.model.parameters import Parameters
from poinsot.model.wiring import Wiring
from poinsot.parts.events import absent_ever
from poinsot.ph.matrices import Vector
from poinsot.ph.ports import Port
from poinsot.result.channels import find_channel

Causality: TypeAlias = Literal["independent", "parameter", "input", "output", "local"]
#: What a variable shows: the time, the step, a parameter of the model, input or output of a port,
#: energy put in through it, a total of the run, a channel.
Kind: TypeAlias = Literal["time", "step", "parameter", "u", "y", "supplied", "total", "channel"]
TOTALS = {
    "energy": "stored energy",
    "dissipated": "energy dissipated since the start",
    "balance_error": "energy - energy at the start - supplied + dissipated: zero up to round-off",
}


@dataclass(frozen=True)
class Variable:
    """A variable: name, causality, unit, start if it has one; entry `index` of what of whose."""

    name: str
    causality: Causality
    kind: Kind
    owner: str = ""
    index: int = 0
    unit: str | None = None
    start: float | None = None
    description: str = ""


@dataclass(frozen=True)
class Interface:
    """An FMU as its model sees it.

    Parameters
    ----------
    variables : tuple of Variable
        The place of each is its value reference.
    parameters : tuple of str
        Paths of parameters of the model.
    """

    variables: tuple[Variable, ...]
    parameters: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        model: Model,
        simulation: Simulation,
        parameters: Sequence[str],
        outputs: Sequence[str],
    ) -> Self:
        """Return the interface of a model; refuse one that no FMU can be made of."""
        for name, event in model.events.items():
            if absent_ever([model.trigger(name, event)]):
                raise InputError(
                    f"event '{name}' changes the model, which is not possible in an FMU; use "
                    "then='record' or 'stop'"
                )
        known = Parameters.of(model, parameters)
        for path, value in known.values.items():
            if value is None or value.shape:
                raise InputError(
                    f"parameter '{path}' must be one number of the model; for vectors give a "
                    "component, such as 'gravity.z'"
                )
        starts = inputs_of(model)
        stepping = Stepping(model.as_now(), simulation, starts, simulation.t_start)
        variables = [
            Variable("time", "independent", "time", unit="s"),
            Variable(
                "step_size",
                "parameter",
                "step",
                unit="s",
                start=simulation.step,
                description="step of the integration",
            ),
            *(
                Variable(path, "parameter", "parameter", path, start=float(value))
                for path, value in known.values.items()
                if value is not None
            ),
        ]
        for port in stepping.system.ports:
            if port.name in own_ports(model):
                variables += _port(port, starts.get(port.name))
        variables += [
            Variable(name, "output", "total", name, unit="J", description=what)
            for name, what in TOTALS.items()
        ]
        variables += _channels(model, outputs)
        found = cls(tuple(variables), tuple(parameters))
        twice = [v.name for v in variables if [w.name for w in variables].count(v.name) > 1]
        if twice:
            raise InputError(
                f"'{twice[0]}' would be the name of two variables of the FMU; rename one of the "
                "parts"
            )
        return found

    @property
    def inputs(self) -> dict[str, list[float]]:
        """The inputs of ports by name, and their values at the start."""
        found: dict[str, list[float]] = {}
        for variable in self.variables:
            if variable.kind == "u":
                found.setdefault(variable.owner, []).append(variable.start or 0.0)
        return found

    # -- files ------------------------------------------------------------------------------------

    @property
    def facts(self) -> dict[str, Any]:
        """The interface as JSON knows it."""
        return asdict(self)

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Self:
        """Return an interface from its facts."""
        variables = tuple(Variable(**each) for each in facts["variables"])
        return cls(variables, tuple(facts["parameters"]))


def _port(port: Port, start: Vector | None) -> Iterator[Variable]:
    """Return inputs and outputs of a port, and the energy that is put in through it.

    Without a start it is fed by the model: there are no inputs.
    """
    drive = "the mean over the last communication step, " if port.driven else ""
    for k, u in enumerate([] if start is None else start.tolist()):
        entry = f"[{k}]" if port.size > 1 else ""
        text = f"input of port '{port.name}', held over each communication step"
        yield Variable(f"{port.name}.u{entry}", "input", "u", port.name, k, port.u_unit, u, text)
    for k in range(port.size):
        entry = f"[{k}]" if port.size > 1 else ""
        text = f"output of port '{port.name}', {drive}so that u y is the power supplied"
        yield Variable(
            f"{port.name}.y{entry}", "output", "y", port.name, k, port.y_unit, None, text
        )
    text = f"energy supplied through port '{port.name}' since the start"
    yield Variable(f"{port.name}.energy", "output", "supplied", port.name, 0, "J", None, text)


def _channels(model: Model, outputs: Sequence[str]) -> Iterator[Variable]:
    """Return sensors and other channels as outputs, and joint coordinates to look at."""
    wiring = Wiring(model)
    shown: dict[str, tuple[str, Causality]] = {
        name: (channel, "output") for name, channel in model.sensors.items()
    }
    for text in outputs:
        find_channel(text, wiring.channels, "outputs")
        shown.setdefault(text, (text, "output"))
    for name, joint in model.joints.items():
        for freedom in joint.freedoms():
            for text in (f"{name}.{freedom.label}", f"{name}.{freedom.label}.rate"):
                shown.setdefault(text, (text, "local"))
    for name, (text, causality) in shown.items():
        channel = find_channel(text, wiring.channels, f"output '{name}'")
        if channel.kind in ("reaction", "signal", "output"):
            raise InputError(
                f"output '{name}' of the FMU: '{text}' is a mean over steps; choose coordinates "
                "and rates of joints, motions of bodies, or states"
            )
        for k in range(channel.size):
            entry = f"[{k}]" if channel.shape else ""
            yield Variable(
                f"{name}{entry}", causality, "channel", text, k, channel.unit, None, f"'{text}'"
            )
