"""An engine that goes back to where it was takes the same steps again, bit by bit."""

import mechanisms
import numpy as np
import pytest

import poinsot as ps
from poinsot.ph.runner import Totals
from poinsot.ph.stages import Newton
from poinsot.run.engines import choose_engine
from poinsot.run.event_log import EventLog
from poinsot.run.events import watched
from poinsot.run.phases import PhasedEngine
from poinsot.run.problem import Problem

H, END = 0.01, 0.6


def engines(model, scheme, engine):
    """Two engines of the same kind, as if in two processes, and their problem."""
    for _ in range(2):
        problem = Problem.of(model, scheme, None, (H, 0.0, END), None, None, None, None)
        yield problem, choose_engine(problem, engine, Newton())


def run_on(problem, engine, totals, first, steps):
    """Take so many steps from number `first` on; return the states after whole steps."""
    found, done, every = [], first, len(problem.clock.fractions)
    while done < first + steps:
        block = engine.advance(problem.clock, done, first + steps - done, every, totals)
        found.append(block.saved.x)
        done += block.steps
    return np.concatenate(found)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl", "emh-mean", "ph-mp-4"])
def test_steps_are_the_same_again_here_and_in_another_engine(scheme, engine):
    plan = mechanisms.tree(5, bodies=3) if scheme == "ph-mp-4" else mechanisms.full(5)
    (problem, one), (_, other) = engines(plan.model(), scheme, engine)
    ports = [*problem.system.ports, *problem.system.connected]
    totals = Totals(problem.system.H(problem.x), 0.0, np.zeros(len(ports)), problem.turned)
    half = problem.clock.steps // 2
    run_on(problem, one, totals, 0, half)
    memory, runs = one.memory(), []
    for each in (one, one, other):
        if runs:
            each.restore(memory)
        sums = totals.copy()
        runs.append((run_on(problem, each, sums, half, half), sums))
    assert len(runs[0][0]) == problem.clock.whole // 2
    for x, sums in runs[1:]:
        assert np.array_equal(x, runs[0][0])
        for name in ("lost", "supplied", "turn"):
            assert np.array_equal(getattr(sums, name), getattr(runs[0][1], name))


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_events_and_phases_go_on_in_another_engine(engine):
    def watched_engine():
        plan = mechanisms.tree(5, bodies=3)
        model = plan.model()
        body, joint = next(iter(model.bodies)), list(model.joints)[-1]
        model.add_event("now", ps.Event(f"{body}.velocity.z", then="record"))
        model.add_event("let", ps.Event("t - 0.103", then=ps.Release(joint)))
        model.add_event("later", ps.Event("t - 0.4444"))

        def pose(rest, t, angles):
            left = Problem.of(rest, "ph-mp", None, (H, t, END), None, angles, None)
            return left, choose_engine(left, engine, Newton())

        problem = Problem.of(model, "ph-mp", None, (H, 0.0, END), None, None, None)
        whole = choose_engine(problem, engine, Newton())
        log = EventLog(dict.fromkeys(model.events, ""))
        return problem, watched(PhasedEngine(problem, whole, model, pose), problem, log), log

    (problem, one, log), (_, other, others) = watched_engine(), watched_engine()
    totals = Totals(problem.system.H(problem.x), 0.0, np.zeros(0), problem.turned)
    run_on(problem, one, totals, 0, 30)
    memory, sums = one.memory(), totals.copy()
    x = run_on(problem, one, totals, 30, 30)
    other.restore(memory)
    assert np.array_equal(run_on(problem, other, sums, 30, 30), x)
    assert others.times == log.times
    assert log.times.keys() == {"now", "let", "later"}
