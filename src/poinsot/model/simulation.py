"""The section `simulation` of a model file: how to run the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from poinsot.errors import InputError
from poinsot.inputs import number
from poinsot.model.coordinates import choose_scheme, fits
from poinsot.ph.stages import Newton, require_newton
from poinsot.run.adaptive import require_tolerance
from poinsot.run.engines import ENGINES
from poinsot.run.problem import require_saving
from poinsot.schemes.records import find_scheme


@dataclass(frozen=True, kw_only=True)
class Simulation:
    """How to run a model; the section `simulation` of a model file.

    Parameters
    ----------
    scheme : str
        Time integration scheme. Default: that of `simulate`.
    step, t_end, t_start : float
        Step size, end and start [s].
    save_every : int
        Save one of this many steps.
    tolerance, h_max : float
        Tolerance of an adaptive step size and largest step size [s], see `simulate`. Default: a
        constant step size.
    engine : {"auto", "compiled", "reference"}
        Engine, see `simulate`.
    coordinates : str
        How rotations are described, see `Model.compile`. Default: those of the scheme.
    newton : Newton
        Tolerances of Newton's method.
    """

    scheme: str | None = None
    step: float | None = None
    t_end: float | None = None
    t_start: float = 0.0
    save_every: int = 1
    tolerance: float | None = None
    h_max: float | None = None
    engine: str = "auto"
    coordinates: str | None = None
    newton: Newton | None = None

    def __post_init__(self) -> None:
        """Raise `InputError` for options that no simulation can use."""
        choose_scheme(self.scheme, self.coordinates)
        if self.engine not in ENGINES:
            raise InputError(f"no engine '{self.engine}'; choose from {', '.join(ENGINES)}")
        if self.step is not None and number(self.step, "step") <= 0:
            raise InputError(f"the step is {self.step:g} s; it must be positive")
        require_saving(self.save_every)
        if self.newton is not None:
            require_newton(self.newton)
        require_tolerance(self.tolerance, self.h_max)
        number(self.t_start, "t_start")
        if self.t_end is not None and number(self.t_end, "t_end") <= self.t_start:
            raise InputError(f"t_end = {self.t_end:g} s is not after t_start = {self.t_start:g} s")

    def options(self, **changes: Any) -> dict[str, Any]:
        """Return these options as arguments of `simulate`, replaced by `changes` that are not None.

        If a new scheme and the old coordinates do not match, or vice versa, the old value is
        dropped.

        Examples
        --------
        ``ps.simulate(model, **model.simulation.options(t_end=2.0))``
        """
        given = {name: value for name, value in changes.items() if value is not None}
        unknown = set(given) - {field.name for field in fields(self)}
        if unknown:
            raise InputError(f"a simulation has no option '{sorted(unknown)[0]}'")
        chosen = replace(self, **self._fitting(given), **given)
        for name in ("step", "t_end"):
            if getattr(chosen, name) is None:
                raise InputError(
                    f"no {name} is given; add it to the model file, simulation: {{{name}: ...}}, "
                    "or give it for this run"
                )
        options = {field.name: getattr(chosen, field.name) for field in fields(chosen)}
        return {"h": options.pop("step"), **options}

    def _fitting(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Return which of scheme and coordinates must be dropped to match the other."""
        if "scheme" in given:
            return {} if "coordinates" in given else {"coordinates": None}
        if "coordinates" not in given or self.scheme is None:
            return {}
        return {} if fits(find_scheme(self.scheme), given["coordinates"]) else {"scheme": None}
