"""How a run is asked for: all that is no model and no function."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import Newton
from poinsot.schemes.records import SCHEMES


@dataclass(frozen=True)
class Plan:
    """How a run was asked for.

    Parameters
    ----------
    h, t_start, t_end : float
        Step, start and end [s].
    coordinates, save_every, newton
        As to `simulate`.
    asked, engine : str
        The engine asked for, and the one that runs.
    scheme, known : str, bool
        The scheme, and whether it is one of `SCHEMES`.
    tolerance, h_max : float or None
        That of the size of steps, and the largest of them [s]; None: as to `simulate`.
    started, angles
        Whether a start was given, and angles there [rad].
    events : bool
        Whether events were given to the run itself.
    """

    h: float
    t_start: float
    t_end: float
    coordinates: str | None
    save_every: int
    newton: Newton
    asked: str
    engine: str = ""
    scheme: str = ""
    known: bool = False
    tolerance: float | None = None
    h_max: float | None = None
    started: bool = False
    angles: Mapping[str, float] = field(default_factory=dict)
    events: bool = False

    @classmethod
    def read(cls, facts: Mapping[str, Any]) -> Self:
        """Return a plan from what `asdict` made of it."""
        return cls(**{**facts, "newton": Newton(**facts["newton"])})

    @property
    def facts(self) -> dict[str, Any]:
        """The plan as JSON knows it."""
        return asdict(self)

    @property
    def span(self) -> tuple[float, float, float]:
        """Step, start and end [s]."""
        return self.h, self.t_start, self.t_end


def is_known(scheme: Scheme) -> bool:
    """Return whether a scheme can be found by its name."""
    return SCHEMES.get(scheme.name) == scheme
