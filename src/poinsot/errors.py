"""Exceptions and warnings; every message says what is wrong, where, and what to do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any


class PoinsotError(Exception):
    """Base class of all exceptions that Poinsot raises."""

    def __str__(self) -> str:
        """Return the message as one line of plain text."""
        return printable(super().__str__())


class InputError(PoinsotError, ValueError):
    """The input is invalid: a wrong shape, unknown name, wrong unit or impossible value."""


class StructureError(InputError):
    """A system violates the port-Hamiltonian structure, e.g. J is not skew-symmetric."""


class LargeStepError(InputError):
    """The step is too large; simulations try smaller steps before raising this."""


class InconsistentStartError(InputError):
    """The initial state violates an algebraic equation or constraint of the system."""


class SingularPositionError(LargeStepError):
    """A step through a singular position switched to another branch of the motion."""


class AssemblyError(InconsistentStartError):
    """The joints of a model cannot be closed.

    Attributes
    ----------
    gaps : dict
        Joint -> smallest gap that was reached: distance [m] and angle [rad].
    places : dict
        Body -> position [m] and rotation R_WB at these gaps.
    """

    def __init__(
        self,
        message: str,
        *,
        gaps: Mapping[str, tuple[float, float]],
        places: Mapping[str, tuple[Any, Any]],
    ) -> None:
        super().__init__(message)
        self.gaps, self.places = dict(gaps), dict(places)


class OutOfReachError(InputError):
    """A joint coordinate cannot reach the requested value.

    Attributes
    ----------
    limit : float
        Last value that was reached [rad or m].
    sweep : Sweep
        The motion up to the limit.
    """

    def __init__(self, message: str, *, limit: float, sweep: Any) -> None:
        super().__init__(message)
        self.limit, self.sweep = limit, sweep


class SingularPencilError(InputError):
    """A linear system has no unique solution: det(s E - A) = 0 for every s."""


class NoEffectError(InputError):
    """A response between two ports was requested, and one has no effect on the other."""


class MissingExtraError(PoinsotError, ImportError):
    """An optional package is not installed; the message names the extra to install."""


class FMUError(InputError):
    """An FMU cannot be read, has no binary for this platform, or failed during a step."""


class ModelFileError(InputError):
    """A model file is invalid.

    Attributes
    ----------
    problems : tuple of str
        One line for each problem, with file, line and key.
    """

    #: So many are listed in the message.
    LISTED = 10

    def __init__(self, *problems: str) -> None:
        self.problems = tuple(map(printable, problems))
        shown = list(self.problems[: self.LISTED])
        if len(problems) > self.LISTED:
            shown.append(f"and {len(problems) - self.LISTED} more")
        if len(problems) > 1:
            shown = [f"{len(problems)} problems", *(f"  {line}" for line in shown)]
        super().__init__("\n".join(shown))

    def __str__(self) -> str:
        return Exception.__str__(self)


class RobotFileError(InputError):
    """A URDF or MJCF file is invalid; `file` and `element` say where."""

    def __init__(self, file: str, element: str, problem: str) -> None:
        self.file, self.element = file, element
        super().__init__(f"{file}: {element} {problem}")


class NoEquilibriumError(PoinsotError):
    """No equilibrium, steady motion or periodic motion was found.

    Attributes
    ----------
    residual : float
        Largest remaining force, relative to the forces that act.
    moving : tuple of str
        Names of what it would accelerate.
    """

    def __init__(self, message: str, *, residual: float, moving: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.residual, self.moving = residual, tuple(moving)


class NoDerivativeError(PoinsotError):
    """The derivative of a simulation does not exist or is not available."""


class StorageError(PoinsotError):
    """Saved steps cannot be written to disk or read back."""


class BuildError(PoinsotError):
    """The compiled engine cannot be built; the message gives the reason."""


class DeviceError(PoinsotError):
    """No usable graphics processor was found, or it cannot run the requested computation."""


class DeviceMemoryError(DeviceError):
    """The graphics processor has too little memory."""


class WorkerError(PoinsotError):
    """A process that takes runs of a study was ended from outside."""


class MissingDerivativeWarning(UserWarning):
    """A derivative was not given and is computed by finite differences."""


class InexactRunWarning(UserWarning):
    """A simulation finished with an error of energy or constraints above round-off."""


class OmissionWarning(UserWarning):
    """Elements of a URDF or MJCF file that the conversion left out or changed.

    Attributes
    ----------
    file : str
        The file.
    omissions : tuple of str
        One line for each element: its name and the reason.
    """

    def __init__(self, file: str, omissions: Iterable[str]) -> None:
        self.file, self.omissions = file, tuple(map(printable, omissions))
        count = len(self.omissions)
        what = "1 element was" if count == 1 else f"{count} elements were"
        lines = "".join(f"\n  {line}" for line in self.omissions)
        super().__init__(f"{file}: {what} left out or changed in the conversion:{lines}")


def optional(module: str, extra: str) -> Any:
    """Import an optional package; raise `MissingExtraError` with the extra if it is missing."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"{package} is required and not installed: pip install 'poinsot[{extra}]' ({error})"
        ) from None


def failure(error: BaseException) -> str:
    """Return the message for a user's function that failed."""
    return (
        str(error) if isinstance(error, InputError) else f"raised {type(error).__name__}: {error}"
    )


def printable(text: str) -> str:
    """Return a text as one line for a terminal, with control characters escaped."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: the closest match, or the known names."""
    known = list(known)
    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    more = [f"and {len(known) - 40} more"] if len(known) > 40 else []
    return "known: " + (", ".join([*(f"'{k}'" for k in known[:40]), *more]) or "none")
