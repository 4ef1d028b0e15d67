"""An instance of an FMU: set, initialise, simulate and restore the model of its file."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile

import numpy as np

from poinsot.errors import InputError, PoinsotError
from poinsot.fmi.interface import Interface, Variable
from poinsot.fmi.stepping import ROUNDED, Snapshot, Stepping
from poinsot.model import Model, Simulation
from poinsot.model.parameters import Parameters
from poinsot.model.wiring import Wiring
from poinsot.ph.newton import NewtonFailure
from poinsot.ph.runner import Memory
from poinsot.result.channels import find_channel
from poinsot.systems.measuring import Measurement

#: The files of an FMU's resources: the model, and what its variables are.
MODEL, INTERFACE = "model.yaml", "interface.json"


class DiscardedStepError(PoinsotError):
    """A communication step cannot be taken; the instance is where it was before."""


@dataclass(frozen=True)
class State:
    """Values that were set, whether it runs, and where it is then."""

    values: Mapping[int, float]
    start: float
    running: bool
    snapshot: Snapshot | None


class Instance:
    """An instance of an FMU.

    Parameters
    ----------
    model : Model
        What it runs, with how to run it.
    interface : Interface
        Its variables.
    """

    def __init__(self, model: Model, interface: Interface) -> None:
        self.model, self.interface = model, interface
        self.reset()

    @classmethod
    def at(cls, resources: Path) -> Self:
        """Return an instance of the FMU with these resources."""
        facts = json.loads((resources / INTERFACE).read_text(encoding="utf-8"))
        return cls(Model.from_yaml(resources / MODEL), Interface.read(facts))

    def reset(self) -> None:
        """Go back to before it was set up, all values those at the start."""
        variables = enumerate(self.interface.variables)
        self.values = {k: v.start for k, v in variables if v.start is not None}
        self.start, self.running = 0.0, False
        self._stepping: Stepping | None = None

    # -- the run ----------------------------------------------------------------------------------

    def set_up(self, start: float) -> None:
        """Let it begin at a time [s]."""
        self.start, self._stepping = start, None

    def initialise(self) -> None:
        """End the initialization: parameters are fixed from here on."""
        self._begin()
        self.running = True

    @property
    def stepping(self) -> Stepping:
        """The run, made with the values that are set now when it is first asked for."""
        return self._begin()

    def _begin(self) -> Stepping:
        if self._stepping is None:
            self._stepping, self._looks = self._made()
        return self._stepping

    def _made(self) -> tuple[Stepping, dict[str, Measurement]]:
        interface, step, parameters = self.interface, 0.0, dict[str, float]()
        inputs = {name: np.array(values) for name, values in interface.inputs.items()}
        for k, variable in enumerate(interface.variables):
            match variable.kind:
                case "step":
                    step = self.values[k]
                case "parameter":
                    parameters[variable.owner] = self.values[k]
                case "u":
                    inputs[variable.owner][variable.index] = self.values[k]
        model = Parameters.of(self.model, interface.parameters).model(parameters)
        simulation = replace(self.model.simulation or Simulation(), step=step)
        made = Stepping(model, simulation, inputs, self.start)
        known = Wiring(model).channels
        owners = dict.fromkeys(v.owner for v in interface.variables if v.kind == "channel")
        looks = {
            text: Measurement(made.system, [find_channel(text, known, "output")]) for text in owners
        }
        return made, looks

    def step(self, time: float, size: float) -> bool:
        """Go on from a time by so much [s]; return whether an event has stopped the run.

        Raises `DiscardedStepError` if that cannot be done; nothing has changed then.
        """
        now = self.stepping.time
        if not self.running:
            raise InputError("doStep was called before the initialization was finished")
        if abs(time - now) > ROUNDED * max(1.0, abs(now), size):
            raise InputError(
                f"doStep from t = {time:.9g} s, but the instance is at t = {now:.9g} s; restore a "
                "state that was saved at this time first"
            )
        if not size > 0:
            raise InputError(f"doStep by {size:g} s; the communication step must be positive")
        try:
            self.stepping.advance(time + size - now)
        except (PoinsotError, NewtonFailure) as error:
            why = getattr(error, "reason", "") or str(error)
            raise DiscardedStepError(f"no step from t = {now:g} s by {size:g} s: {why}") from error
        return bool(self.stepping.stopped)

    # -- variables --------------------------------------------------------------------------------

    def _variable(self, reference: int) -> Variable:
        variables = self.interface.variables
        if not 0 <= reference < len(variables):
            raise InputError(f"no variable {reference}; there are {len(variables)}")
        return variables[reference]

    def get(self, references: Sequence[int]) -> list[float]:
        """Return variables by their value references."""
        return [self._value(k, self._variable(k)) for k in references]

    def _value(self, reference: int, variable: Variable) -> float:
        match variable.kind:
            case "step" | "parameter" | "u":
                return self.values[reference]
            case "time":
                return self.stepping.time
            case "y":
                return float(self.stepping.output(variable.owner)[variable.index])
            case "supplied":
                return self.stepping.energy_through(variable.owner)
            case "total":
                return self.stepping.total(variable.owner)
        run = self.stepping
        return float(self._looks[variable.owner](run.x, run.turned)[variable.index])

    def set(self, references: Sequence[int], values: Sequence[float]) -> None:
        """Set inputs, and before the end of the initialization parameters as well."""
        for reference, value in zip(references, values, strict=True):
            variable = self._variable(reference)
            if variable.causality not in ("input", "parameter"):
                raise InputError(f"'{variable.name}' is an {variable.causality}: it cannot be set")
            if not np.isfinite(value):
                raise InputError(f"'{variable.name}' is set to {value}; give a finite number")
            if variable.causality == "parameter" and self.running:
                raise InputError(
                    f"'{variable.name}' is a fixed parameter, which can only be set before the end "
                    "of the initialization"
                )
            self.values[reference] = value
            if not self.running:
                self._stepping = None
            else:
                self.stepping.held[variable.owner].value[variable.index] = value

    # -- states -----------------------------------------------------------------------------------

    def state(self) -> State:
        """Return where it is, and all that was set."""
        snapshot = self.stepping.snapshot() if self.running else None
        return State(dict(self.values), self.start, self.running, snapshot)

    def restore(self, state: State) -> None:
        """Go to a state of the same FMU."""
        fixed = [k for k, v in enumerate(self.interface.variables) if v.causality == "parameter"]
        same = all(self.values[k] == state.values[k] for k in fixed) and self.start == state.start
        if not (self.running and same):
            self._stepping = None
        self.values, self.start = dict(state.values), state.start
        self.running = state.running
        if state.snapshot is None:
            self._stepping = None
        else:
            self.stepping.restore(state.snapshot)

    def pack(self, state: State) -> bytes:
        """Return a state as bytes, for this machine and this FMU."""
        counts, arrays = None, Memory()
        if state.snapshot is not None:
            counts, arrays = state.snapshot.counts, state.snapshot.arrays
        facts: dict[str, Any] = {
            "values": [[k, value] for k, value in state.values.items()],
            "start": state.start,
            "running": state.running,
            "counts": counts,
            "names": list(arrays),
        }
        kept: dict[str, Any] = {f"a{k}": array for k, array in enumerate(arrays.values())}
        kept["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
        packed = BytesIO()
        np.savez(packed, **kept)
        return packed.getvalue()

    def unpack(self, packed: bytes) -> State:
        """Return the state of these bytes; nothing in them is executed."""
        try:
            with np.load(BytesIO(packed), allow_pickle=False) as file:
                facts = json.loads(bytes(file["facts"]))
                arrays = {name: file[f"a{k}"] for k, name in enumerate(facts["names"])}
            values = {int(k): float(value) for k, value in facts["values"]}
            snapshot = None if facts["counts"] is None else Snapshot(facts["counts"], arrays)
            return State(values, float(facts["start"]), bool(facts["running"]), snapshot)
        except (BadZipFile, KeyError, OSError, TypeError, ValueError) as error:
            raise InputError(f"these bytes are not a state of this FMU: {error}") from None
