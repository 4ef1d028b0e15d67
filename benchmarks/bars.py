"""Targets for the speed of Poinsot, and whether a run met them."""

from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks.results import Results, seconds, sizes
from benchmarks.work_precision import DEMANDED

OURS = ("Poinsot", "PH-MP")
EXUDYN = ("Exudyn", "TrapezoidalIndex2")
RUNGE_KUTTA = ("MuJoCo", "RK4")


@dataclass(frozen=True)
class Bar:
    """A target for a ratio of times: at least `demanded`, or at most if `ceiling`."""

    what: str
    demanded: float
    measured: float | None
    ceiling: bool = False

    @property
    def passed(self) -> bool | None:
        """Whether it is met; None if it was not measured."""
        if self.measured is None:
            return None
        if self.ceiling:
            return self.measured <= self.demanded
        return self.measured >= self.demanded


def bars(results: Results) -> list[Bar]:
    """Return all targets with the measured values."""
    return list(_bars(results))


def _bars(results: Results) -> Iterator[Bar]:
    for count in (64, 256):
        ratio = _ratio(results, "chain-spherical", count, EXUDYN)
        yield Bar(f"chain of {count} bars on spherical joints: faster than Exudyn by", 8, ratio)
    ratios = [
        ratio
        for count in sizes(results, "chain-spherical")
        if (ratio := _ratio(results, "chain-spherical", count, RUNGE_KUTTA)) is not None
    ]
    label = "chain on spherical joints, all lengths: faster than MuJoCo's RK4 by"
    yield Bar(label, 1, min(ratios, default=None))
    long, short = (seconds(results, "chain-spherical", n, *OURS) for n in (10000, 100))
    growth = long / 10000 / (short / 100) if long and short else None
    yield Bar("time per body, chain of 10000 bars relative to 100 bars", 2, growth, ceiling=True)
    ratio = _ratio(results, "slider-crank", 1, EXUDYN)
    yield Bar("spatial slider-crank: faster than Exudyn by", 6, ratio)
    yield Bar("ladder of 40 loops: faster than Exudyn by", 5, _ratio(results, "ladder", 40, EXUDYN))
    yield Bar("flying rod: µs per element and step", 1.5, _each(results), ceiling=True)
    for kind in ("cable", "geometrically exact beam"):
        yield Bar(f"flying rod: faster than Exudyn's {kind} by", 10, _rod(results, kind))
    beams = {row["name"]: 1 / row["seconds"] for row in results.get("beams", [])}
    for where in ("in the plane", "in space"):
        label = f"ten floating beams of ten elements that bend {where}: steps per second"
        yield Bar(label, 3000, beams.get(where))
    for target, demanded in ((1e-4, 5), (1e-6, 15)):
        label = f"time to an error of {target:.0e} m, {DEMANDED}: faster than the other programs by"
        yield Bar(label, demanded, _to_the_same_error(results, target))


def _each(results: Results) -> float | None:
    """Return the time of one of our elements and a step [µs]."""
    rods = results.get("rods")
    return 1e6 * rods["rows"][0]["seconds"] / rods["elements"] if rods else None


def _rod(results: Results, kind: str) -> float | None:
    """Return the time of an element of Exudyn over that of ours."""
    rods = {row["name"]: row["seconds"] for row in results.get("rods", {}).get("rows", [])}
    theirs = rods.get(f"Exudyn, {kind}")
    return None if theirs is None else theirs / rods["Poinsot"]


def _ratio(results: Results, case: str, size: int, peer: tuple[str, str]) -> float | None:
    """Return the time of a peer over ours."""
    ours, theirs = (seconds(results, case, size, *who) for who in (OURS, peer))
    return theirs / ours if ours and theirs else None


def _to_the_same_error(results: Results, target: float) -> float | None:
    """Return the time of the fastest peer to an error [m] over that of our best scheme."""
    for contest in results.get("work_precision", []):
        if contest["title"] == DEMANDED:
            at = list(contest["targets"]).index(target)
            known = {name: times[at] for name, times in contest["times"].items() if times[at]}
            ours = [time for name, time in known.items() if name.startswith(OURS[0])]
            others = [time for name, time in known.items() if not name.startswith(OURS[0])]
            return min(others) / min(ours) if ours and others else None
    return None
