"""What Poinsot raises: every message says what is wrong, where, and what to do."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any


class PoinsotError(Exception):
    """Anything that Poinsot raises on purpose."""

    def __str__(self) -> str:
        """Return the message; whatever names it quotes, it is one line of plain text."""
        return printable(super().__str__())


class InputError(PoinsotError, ValueError):
    """The user's input cannot be used: a shape, a name, a unit, a value."""


class StructureError(InputError):
    """A system breaks the port-Hamiltonian contract, e.g. J is not skew-symmetric."""


class LargeStepError(InputError):
    """A step is too large for what it passes; a simulation tries smaller ones before it says so."""


class InconsistentStartError(InputError):
    """The initial state violates an algebraic equation of the system."""


class SingularPositionError(LargeStepError):
    """A step through a singular position of joints left its branch of the motion for another."""


class AssemblyError(InconsistentStartError):
    """The joints of a model do not close, wherever bodies are put.

    `gaps` are how far joints stay open at best, by name: a distance [m] and an angle [rad].
    `places` are where bodies are then: position [m] and rotation R_WB by name.
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
    """A coordinate of a joint does not get to a value: it is at its `limit` [rad or m] before.

    `sweep` is what was reached on the way.
    """

    def __init__(self, message: str, *, limit: float, sweep: Any) -> None:
        super().__init__(message)
        self.limit, self.sweep = limit, sweep


class SingularPencilError(InputError):
    """A linear system has no unique solution: det(s E - A) = 0 for every s."""


class NoEffectError(InputError):
    """A port moves nothing, or is moved by nothing, where a response between ports is asked for."""


class MissingExtraError(PoinsotError, ImportError):
    """A package that is optional is needed; says which extra brings it."""


class FMUError(InputError):
    """An FMU cannot be used: it is none, has no binary for this platform, or fails in a step."""


class ModelFileError(InputError):
    """A model file cannot be used; `problems` says where and why, a line for each."""

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
    """A URDF or MJCF file cannot be used; `file` and `element` say where."""

    def __init__(self, file: str, element: str, problem: str) -> None:
        self.file, self.element = file, element
        super().__init__(f"{file}: {element} {problem}")


class NoEquilibriumError(PoinsotError):
    """No rest, steady or periodic motion was found.

    `residual` is the largest force that is left over, as a part of the forces there, and `moving`
    names what it moves.
    """

    def __init__(self, message: str, *, residual: float, moving: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.residual, self.moving = residual, tuple(moving)


class NoDerivativeError(PoinsotError):
    """A derivative of a run was asked for that does not exist, or is not known."""


class StorageError(PoinsotError):
    """Saved steps cannot be written to disk, or not be read back."""


class BuildError(PoinsotError):
    """The machine code of the compiled engine cannot be built; says why."""


class DeviceError(PoinsotError):
    """There is no graphics processor, or it cannot do what it is asked for."""


class DeviceMemoryError(DeviceError):
    """The memory of the graphics processor is not enough."""


class WorkerError(PoinsotError):
    """A process that takes runs of a study was ended from outside."""


class MissingDerivativeWarning(UserWarning):
    """A derivative was not given and is computed by finite differences."""


class InexactRunWarning(UserWarning):
    """A run reached its end, but its own balance or constraints are off by more than round-off."""


class OmissionWarning(UserWarning):
    """Parts of a robot's file that are not in the model, or not in the file; `omissions` has them.

    Each is one line: the element by name, and why.
    """

    def __init__(self, file: str, omissions: Iterable[str]) -> None:
        self.file, self.omissions = file, tuple(map(printable, omissions))
        lines = "".join(f"\n  {line}" for line in self.omissions)
        super().__init__(f"{file}: {len(self.omissions)} not carried over as they are{lines}")


def optional(module: str, extra: str) -> Any:
    """Import a package that an extra brings, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise MissingExtraError(
            f"this needs {package}: pip install 'poinsot[{extra}]' ({error})"
        ) from None


def failure(error: BaseException) -> str:
    """Return what messages say of a user's function that failed."""
    return (
        str(error) if isinstance(error, InputError) else f"raised {type(error).__name__}: {error}"
    )


def printable(text: str) -> str:
    """Return a text as one line for a terminal: control characters are written as escapes."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: a near match or the known names."""
    known = list(known)
    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    more = [f"and {len(known) - 40} more"] if len(known) > 40 else []
    return "known: " + (", ".join([*(f"'{k}'" for k in known[:40]), *more]) or "none")
