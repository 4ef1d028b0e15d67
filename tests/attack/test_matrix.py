"""Every joint in every scheme, coordinates, engine and topology keeps what is promised.

In every run of the tests pairwise, with `--attack` the full product. What cannot run is refused, by
one of the rules here and no other.
"""

from itertools import groupby

import pytest
from bounds import beyond
from checks import Checks
from matrix import CONTACTS, FORMULATIONS, every, pairwise

import poinsot as ps

STEPS = 3
#: Schemes that the compiled engine leaves to the reference engine: general ones, and those by
#: derivatives at midpoints of quaternions.
UNCOMPILED = ("ph-dg", "ph-dg-partitioned", "ph-avf", "mpl", "mph")
#: Those in which published lever arms act, for which repeated constraints leave the motion open.
PUBLISHED = ("eml", "reml", "null-eml", "emh")
GENERAL = ("ph-dg", "ph-dg-partitioned", "ph-avf")
WITHOUT_ENGINE = "the compiled engine runs mechanisms with"
REPEATED = "does not support redundant constraints"


def refusal(cell):
    """Return what the message says where a cell cannot run; empty: it runs."""
    scheme, rolls = cell.formulation.scheme, cell.joint in CONTACTS
    repeated = cell.topology == "repeated loop"
    if cell.engine == "compiled" and (
        scheme in UNCOMPILED
        or (scheme in PUBLISHED and (rolls or repeated))
        or (cell.formulation.stabilised and rolls)
    ):
        return WITHOUT_ENGINE
    return REPEATED if scheme in GENERAL and repeated else ""


def faults(cell):
    """Return what is out of bounds in a run of this cell, in words."""
    plan, told, formulation = cell.plan(), refusal(cell), cell.formulation
    steps = 1 if formulation.composed else STEPS
    try:
        result = ps.simulate(
            plan.model(),
            coordinates=formulation.coordinates,
            scheme=formulation.scheme,
            engine=cell.engine,
            h=cell.h,
            t_end=steps * cell.h,
        )
    except (ps.InputError, ps.SimulationError) as error:
        return [] if told and told in str(error) else [f"refused: {error}"]
    if told:
        return [f"not refused, though it '{told}'"]
    warned = list(result.warnings)
    if held_at_midpoints(cell):
        warned = [told for told in warned if "velocity constraints at midpoints" not in told]
    return [*warned, *beyond(Checks(cell, plan, formulation, result))]


def held_at_midpoints(cell):
    """Whether contacts are held at midpoints of quaternions, which are not the means of a step."""
    return cell.formulation.midpoint and cell.joint in CONTACTS


@pytest.fixture(scope="module")
def cells(request):
    """Every cell by its formulation: those of a covering design, or all of them."""
    chosen = pairwise() if request.config.getoption("--attack") is None else every()
    return {
        formulation: list(found)
        for formulation, found in groupby(sorted(chosen, key=by_name), lambda c: c.formulation)
    }


def by_name(cell):
    return str(cell.formulation)


@pytest.mark.filterwarnings("ignore::poinsot.InexactRunWarning")
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=str)
def test_every_joint_keeps_what_its_scheme_promises(formulation, cells):
    found = {str(cell): wrong for cell in cells[formulation] if (wrong := faults(cell))}
    assert not found, "\n".join(f"{cell}: {'; '.join(wrong)}" for cell, wrong in found.items())


def test_a_covering_design_has_every_two_values_that_can_meet():
    whole, few = (set().union(*(c.pairs for c in chosen())) for chosen in (every, pairwise))
    assert few == whole
