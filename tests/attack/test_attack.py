"""Whatever the mechanism, a run keeps what it promises, or is refused by an error that says why."""

from itertools import combinations

import numpy as np
import pytest
from bounds import COARSE, MANY, SECOND_ORDER, STEPS, UNTOLD, beyond
from checks import DIRECTORS, FORMULATIONS, QUATERNIONS, ROTATIONS, Checks, apart
from hypothesis import event
from plans import Case
from ranges import ALL, HELD_LONG, NEEDLES

import poinsot as ps

#: Formulations of the same motion, to round-off.
BY_MEAN = [*ROTATIONS, *(f for f in QUATERNIONS if f.scheme == "emh-mean")]
LIVENS = [f for f in QUATERNIONS if f.scheme in ("eml", "reml", "null-eml")]
EMH = next(f for f in QUATERNIONS if f.scheme == "emh")
#: Spins of needles are known to so many times less.
SPUN = 1000
#: Checks look at every step, none of which is taken in pieces.
WHOLE = ps.Newton(halvings=0)
#: What a run watches itself.
TOLD = ("finite", "distance", "angle", "balance")
#: Those that do not pile up velocities of their own, in the compiled engine.
LASTING = [*DIRECTORS, *BY_MEAN]


def run(case, formulation, engine="auto", *, halved=0, steps=STEPS, save_every=1):
    """Return the checks of a run; None if it was refused, which only errors of Poinsot may do."""
    plan, h = case.plan(), case.h / 2**halved

    def taken(newton, t_end):
        return ps.simulate(
            plan.model(),
            coordinates=formulation.coordinates,
            scheme=formulation.scheme,
            engine=engine,
            h=h,
            t_end=t_end,
            save_every=save_every,
            newton=newton,
        )

    try:
        result = taken(WHOLE, steps * case.h)
    except ps.PoinsotError as refusal:
        if not (excused(refusal) or coarse(refusal, taken)):
            if halved >= HALVED or formulation.scheme not in PUBLISHED:
                raise
            run(case, formulation, engine, halved=HALVED, steps=steps)
        event(f"refused: {type(refusal).__name__}")
        return None
    return Checks(case, plan, formulation, result)


#: Angle of a body in one step [rad] up to which there must be a solution.
FAR = 0.3
#: What these mechanisms may rightly be refused for, as the message says it.
EXCUSES = (
    "contacts are redundant at the start",
    "one Euler value is zero, and the stabilised form needs the inverse of the mass",
    "gimbal lock",
    "falls",
    "about its axis, about which the body has no inertia",
)
#: Published lever arms may drive a light body until there is no next step; the run tells of that.
DRIVEN = "which are not the means over a step"
#: Where there is no first step, nothing is known of the run: smaller ones must do, as it advises.
PUBLISHED, HALVED = ("eml", "reml", "null-eml", "emh", "mpl", "mph"), 4


def excused(refusal):
    """Whether a run may be refused so; an error of anything but Poinsot is no refusal."""
    cause = refusal.__cause__
    if cause is not None and not isinstance(cause, ps.PoinsotError):
        return False
    if any(excuse in str(refusal) for excuse in EXCUSES):
        return True
    told = getattr(getattr(refusal, "result", None), "warnings", ())
    return any(DRIVEN in warning for warning in told)


def coarse(refusal, taken):
    """Whether the step that failed would have turned a body far: there need not be a solution.

    A light body that is far from turning so fast may do so within the step, which the step tells
    that is taken in pieces, as users have it.
    """
    result = getattr(refusal, "result", None)
    if result is None or far(result):
        return result is not None
    try:
        return far(taken(ps.Newton(), (result.stats.steps + 1) * result.h))
    except ps.PoinsotError:
        return False


def far(result):
    """Whether a body turns far in a step, as fast as it does in the end."""
    spins = [abs(body.angular_velocity[-1]).max() for body in result.observation.bodies.values()]
    return max(spins) * result.h > FAR


def require(checks, formulation, slack=1):
    faults = beyond(checks, slack)
    assert not faults, f"{formulation}:\n" + "\n".join(faults)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_every_promise_is_kept_in_both_engines(formulation, attack):
    def law(case):
        runs = [run(case, formulation, engine) for engine in formulation.engines]
        for checks in runs:
            if checks is not None:
                require(checks, f"{formulation}, {checks.result.engine}")
        if len(runs) == 2 and None not in runs:
            require(apart("engines", *runs), formulation)

    attack.on(law, few=2)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_needles_move_alike_in_both_engines_or_are_refused(formulation, attack):
    """A spin without inertia that is left free is given a little, which momenta and spins show."""

    def law(case):
        try:
            runs = [run(case, formulation, engine) for engine in formulation.engines]
        except ps.PoinsotError as refusal:
            event(f"refused: {type(refusal).__name__}")
            return
        told = [checks for checks in runs if checks is not None and checks.result.status == "done"]
        for checks in told:
            require([found for found in checks if found.what in TOLD], formulation, slack=UNTOLD)
        if len(told) == 2:
            require(apart("engines", *told), formulation, slack=SPUN)

    attack.on(law, few=1, within=NEEDLES)


@pytest.mark.parametrize("formulation", LASTING, ids=str)
def test_every_promise_is_kept_over_many_steps(formulation, attack):
    def law(case):
        checks = run(case.at_ease(), formulation, steps=MANY, save_every=50)
        if checks is not None:
            require(checks, formulation)

    attack.on(law, few=1, within=HELD_LONG)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_no_run_is_off_without_a_word(formulation, attack):
    """Mass ratios and needles that no formulation can take are refused, or the run says so."""

    def law(case):
        try:
            checks = run(case, formulation)
        except ps.PoinsotError as refusal:
            event(f"refused: {type(refusal).__name__}")
            return
        if checks is not None and checks.result.status == "done":
            watched = [found for found in checks if found.what in TOLD]
            require(watched, formulation, slack=UNTOLD)

    attack.on(law, few=2, within=ALL)


@pytest.mark.parametrize("same", [BY_MEAN, LIVENS], ids=["mean lever arms", "Livens"])
def test_coordinates_of_the_same_motion_agree_to_round_off(same, attack):
    def law(case):
        runs = {f: checks for f in same if (checks := run(case, f)) is not None}
        for one, other in combinations(runs, 2):
            require(apart("coordinates", runs[one], runs[other]), f"{one}, {other}")

    attack.on(law, few=2)


def test_all_coordinates_follow_one_motion_as_steps_get_smaller(attack):
    """All are of second order, so each is off by 4/3 of what it changes by with half the step."""

    def law(case):
        ends = {}
        for f in (*DIRECTORS, BY_MEAN[-1], LIVENS[0]):
            runs = [run(case, f, halved=k) for k in (1, 2)]
            if None not in runs:
                ends[f] = [end_of(checks) for checks in runs]
        for one, other in combinations(ends, 2):
            changes = sum(np.linalg.norm(rough - fine) for rough, fine in (ends[one], ends[other]))
            far = np.linalg.norm(ends[one][0] - ends[other][0])
            assert far <= SECOND_ORDER * changes + COARSE, f"{one}, {other}: {far:.3g}"

    attack.on(law, few=2)


def end_of(checks):
    """Where everything is in the end, relative to the size of the mechanism."""
    result, size = checks.result, checks.motion.size
    return np.concatenate(
        [
            [*result.position(name)[-1] / size, *result.rotation(name)[-1].ravel()]
            for name in checks.plan.bodies
        ]
    )


def test_units_do_not_matter(attack):
    def law(case):
        runs = [run(c, DIRECTORS[case.seed % 2]) for c in (case, case.in_si())]
        assert (runs[0] is None) == (runs[1] is None), "refused in one unit, and not in another"
        if runs[0] is not None:
            require(apart("units", *runs, case.units), "in other units")
            there, here = (checks.result.stats.single_steps for checks in runs)
            assert there == here, f"{there} steps are single ones, and {here} in SI units"

    attack.on(law, few=2)


@pytest.mark.parametrize("seed", [0, 7])
def test_newtons_method_takes_as_long_in_any_units(seed):
    """Pivots are chosen by the equations, not by the sizes of their numbers: 1e-20 kg m^2 here."""
    loop = Case(seed=seed, form="polygon", acting=("gravity",), length=-6, mass=-8, time=5)
    stats = [
        run(case, EMH, "reference", steps=50, save_every=50).result.stats
        for case in (loop, loop.in_si())
    ]
    assert abs(stats[0].newton_iterations - stats[1].newton_iterations) <= 5
    assert max(found.residual_max for found in stats) <= 1e-14
