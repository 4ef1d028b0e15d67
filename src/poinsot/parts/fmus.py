"""FMUs of other programs as sampled controllers: co-simulation with held inputs.

At every sample t_k = t_start + k T the FMU advances from t_{k-1} with the inputs read at that time,
then reads the measured values, and its outputs act until the next sample: both sides use the values
of the last sample.
"""

import shutil
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self
from zipfile import BadZipFile, ZipFile

import numpy as np

from poinsot.errors import FMUError, InputError, MissingExtraError, did_you_mean
from poinsot.inputs import number
from poinsot.ph.matrices import Vector

#: Samples this much nearer to each other than they are long are the same.
SAME = 1e-9
#: Causalities of what can be set: inputs, and parameters before the start.
SETTABLE = "parameter", "input"
SHOWN = "output", "local"


def _fmpy() -> Any:
    """Import FMPy, or say how to get it."""
    try:
        import fmpy
    except ImportError as error:
        raise MissingExtraError(
            f"running FMUs needs FMPy: pip install 'poinsot[fmi]' ({error})"
        ) from None
    return fmpy


@dataclass(frozen=True)
class Variable:
    """A number of an FMU: its name, value reference and causality."""

    name: str
    reference: int
    causality: str


@dataclass(frozen=True, eq=False)
class FMUFile:
    """A file with an FMU for co-simulation, and what its variables are.

    Parameters
    ----------
    path : Path
        The file.
    description
        What FMPy has read of it.
    """

    path: Path
    description: Any

    @classmethod
    def at(cls, path: Path, what: str) -> Self:
        """Read an FMU; refuse what is none, and what cannot run here. `what` asks for it."""
        fmpy = _fmpy()
        try:
            with ZipFile(path) as file:
                if "modelDescription.xml" not in file.namelist():
                    raise FMUError(f"{what}: '{path}' is not an FMU: no modelDescription.xml in it")
            description = fmpy.read_model_description(str(path), validate=False)
        except OSError as error:
            raise FMUError(f"{what}: cannot read '{path}': {error.strerror}") from None
        except BadZipFile:
            raise FMUError(f"{what}: '{path}' is not an FMU, which is a ZIP archive") from None
        except FMUError:
            raise
        except Exception as error:  # whatever a file may hold
            raise FMUError(
                f"{what}: '{path}' has an invalid modelDescription.xml: {error}"
            ) from None
        if not description.fmiVersion.startswith(("2.", "3.")):
            raise FMUError(
                f"{what}: '{path}' is an FMU of FMI {description.fmiVersion}; FMI 2.0 and 3.0 are "
                "supported"
            )
        if description.coSimulation is None:
            raise FMUError(
                f"{what}: '{path}' is for model exchange only; export it for co-simulation"
            )
        there = fmpy.supported_platforms(str(path))
        if not {fmpy.platform, fmpy.platform_tuple} & set(there):
            known = ", ".join(name for name in there if name != "c-code") or "none"
            raise FMUError(
                f"{what}: '{path}' has no binary for {fmpy.platform_tuple}; it has: {known}"
            )
        return cls(path, description)

    @cached_property
    def variables(self) -> dict[str, Variable]:
        """Its real numbers by name."""
        return {
            v.name: Variable(v.name, v.valueReference, v.causality)
            for v in self.description.modelVariables
            if v.type in ("Real", "Float64") and not v.dimensions
        }

    def find(
        self, name: str, causalities: Sequence[str], size: int | None, what: str
    ) -> list[Variable]:
        """Return the variables of a name: one, or those of `name[0]`, `name[1]` and so on.

        There must be as many as the size says, if it is known.
        """
        there = {n: v for n, v in self.variables.items() if v.causality in causalities}
        found = [there[name]] if name in there else []
        found = found or [v for n, v in there.items() if n.startswith(f"{name}[")]
        kind = " or ".join(causalities)
        if not found:
            if name in self.variables:
                raise FMUError(
                    f"{what}: '{name}' of '{self.path.name}' is of causality "
                    f"'{self.variables[name].causality}', expected {kind}"
                )
            names = [n.partition("[")[0] for n in there]
            raise FMUError(
                f"{what}: '{self.path.name}' has no {kind} '{name}'; {did_you_mean(name, names)}"
            )
        if size not in (None, len(found)):
            raise FMUError(
                f"{what}: '{name}' of '{self.path.name}' has {len(found)} number(s), expected "
                f"{size}"
            )
        return found


@dataclass(frozen=True, eq=False)
class FMULaw:
    """An FMU as a law u = f(t, y): it takes what is measured, and puts out what is driven.

    Parameters
    ----------
    file : FMUFile
        The FMU.
    reads, drives : tuple of str
        Its inputs, one for each channel, and its outputs, one for each port, with their signs.
    told : tuple of str
        Outputs that others read.
    parameters : mapping
        FMU parameter -> value.
    inputs, outputs : tuple of Variable
        Where the numbers of y go, and where those of u come from.
    signs : (outputs,)
        With what sign.
    """

    file: FMUFile
    reads: tuple[str, ...]
    drives: tuple[str, ...]
    told: tuple[str, ...]
    parameters: Mapping[str, float]
    inputs: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    signs: Vector

    @classmethod
    def of(
        cls,
        file: FMUFile,
        reads: Sequence[tuple[str, int]],
        drives: Sequence[tuple[str, int]],
        told: Sequence[str],
        parameters: Mapping[str, float],
        what: str,
    ) -> Self:
        """Return the law of an FMU; inputs and outputs come with the sizes of what they meet."""
        inputs = [
            variable
            for name, size in reads
            for variable in file.find(name, ("input",), size, f"{what}: reads")
        ]
        outputs, signs = list[Variable](), list[float]()
        for text, size in (*drives, *((name, None) for name in told)):
            found = file.find(text.removeprefix("-"), SHOWN, size, f"{what}: drives")
            outputs += found
            signs += [-1.0 if text.startswith("-") else 1.0] * len(found)
        for name, value in parameters.items():
            file.find(name, SETTABLE, 1, f"{what}: parameters")
            number(value, f"{what}: parameters: '{name}'")
        return cls(
            file,
            tuple(name for name, _ in reads),
            tuple(text for text, _ in drives),
            tuple(told),
            {name: float(value) for name, value in parameters.items()},
            tuple(inputs),
            tuple(outputs),
            np.array(signs),
        )

    def begun(self) -> "RunningFMU":
        """Return a new instance for a run."""
        return RunningFMU(self)


class RunningFMU:
    """An instance of an FMU in a run; it ends with the run."""

    def __init__(self, law: FMULaw) -> None:
        self.law = law
        self.time: float | None = None
        self.fmu: Any = None
        self.said: list[str] = []

    def __call__(self, t: float, y: Vector) -> Vector:
        """Go on to time t [s] with the inputs of the last sample, take new ones, return outputs."""
        with self._told(t):
            if self.time is None:
                self._begin(t, y)
            else:
                self._go_on(t)
                self._set(self.law.inputs, y.tolist())
            return np.asarray(self.law.signs * self._get(self.law.outputs))

    @contextmanager
    def _told(self, t: float) -> Iterator[None]:
        """Turn what FMPy raises into an error that says what the FMU has said."""
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            why = "; ".join([str(error).rstrip("."), *self.said[-2:]])
            name = self.law.file.path.name
            raise FMUError(f"FMU '{name}' failed at t = {t:g} s: {why}") from error

    def _begin(self, t: float, y: Vector) -> None:
        fmpy, law = _fmpy(), self.law
        from fmpy.simulation import instantiate_fmu

        description = law.file.description
        folder = fmpy.extract(str(law.file.path))
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.fmu = instantiate_fmu(folder, description, "CoSimulation", logger=_into(self.said))
        weakref.finalize(self, _free, self.fmu)
        values = {law.file.variables[name]: value for name, value in law.parameters.items()}
        values |= dict(zip(law.inputs, y.tolist(), strict=True))
        if description.fmiVersion.startswith("2."):
            self.fmu.setupExperiment(startTime=t)
            self._set(list(values), list(values.values()))
            self.fmu.enterInitializationMode()
        else:
            self._set(list(values), list(values.values()))
            self.fmu.enterInitializationMode(startTime=t)
        self.fmu.exitInitializationMode()
        self.time = t

    def _go_on(self, t: float) -> None:
        assert self.time is not None
        span = t - self.time
        if abs(span) <= SAME * max(1.0, abs(t)):
            return
        if span < 0:
            raise FMUError(
                f"FMU '{self.law.file.path.name}' is at t = {self.time:g} s and cannot go back to "
                f"t = {t:g} s"
            )
        self.fmu.doStep(self.time, span)
        self.time = t

    def _set(self, variables: Sequence[Variable], values: list[float]) -> None:
        if variables:
            setter = getattr(self.fmu, "setFloat64", None) or self.fmu.setReal
            setter([variable.reference for variable in variables], values)

    def _get(self, variables: Sequence[Variable]) -> Vector:
        if not variables:
            return np.zeros(0)
        getter = getattr(self.fmu, "getFloat64", None) or self.fmu.getReal
        return np.array(getter([variable.reference for variable in variables]))


def _into(said: list[str]) -> Callable[..., None]:
    """Return what keeps messages in a list, and nobody alive: they are the last argument."""
    return lambda *told: said.append(told[-1].decode(errors="replace"))


def _free(fmu: Any) -> None:
    """End an instance, whatever has happened to it."""
    with suppress(Exception):
        fmu.terminate()
    with suppress(Exception):
        fmu.freeInstance()
