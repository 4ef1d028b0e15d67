"""What Poinsot raises: every message says what is wrong, where, and what to do."""

from collections.abc import Iterable
from difflib import get_close_matches


class PoinsotError(Exception):
    """Anything that Poinsot raises on purpose."""


class InputError(PoinsotError, ValueError):
    """The user's input cannot be used: a shape, a name, a unit, a value."""


class StructureError(InputError):
    """A system breaks the port-Hamiltonian contract, e.g. J is not skew-symmetric."""


class InconsistentStartError(InputError):
    """The initial state violates an algebraic equation of the system."""


class ModelFileError(InputError):
    """A model file cannot be used; `problems` says where and why, a line for each."""

    #: So many are listed in the message.
    LISTED = 10

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        shown = list(problems[: self.LISTED])
        if len(problems) > self.LISTED:
            shown.append(f"and {len(problems) - self.LISTED} more")
        if len(problems) > 1:
            shown = [f"{len(problems)} problems", *(f"  {line}" for line in shown)]
        super().__init__("\n".join(shown))


class StorageError(PoinsotError):
    """Saved steps cannot be written to disk, or not be read back."""


class BuildError(PoinsotError):
    """The machine code of the compiled engine cannot be built; says why."""


class MissingDerivativeWarning(UserWarning):
    """A derivative was not given and is computed by finite differences."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the end of a message about an unknown name: a near match or all known names."""
    known = list(known)
    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean '{near[0]}'?"
    return "known: " + (", ".join(f"'{k}'" for k in known) or "none")
