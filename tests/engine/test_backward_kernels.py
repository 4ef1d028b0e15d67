"""What constraints add to a sweep backwards: the derivatives of their own residuals."""

import mechanisms
import numpy as np
import pytest

from poinsot.engine.families import act, backward
from poinsot.kernels import tables
from poinsot.kernels.step import Step
from poinsot.ph.stages import Newton
from poinsot.schemes.records import find_scheme
from poinsot.systems.compiled.backward import DirectorSweep

KINDS = [("Spherical", "Universal"), ("Cylindrical", "Rod"), ("Prismatic", "PointOnPlane")]


@pytest.mark.parametrize("kinds", KINDS)
def test_they_are_derivatives_by_frames_and_by_numbers_at_any_state(kinds):
    system = mechanisms.tree(5, bodies=2, kinds=kinds).model().compile()
    runner = system.runner(find_scheme("ph-mp"), system.start, 0.01, Newton())
    sweep, random = DirectorSweep(runner), np.random.default_rng(1)
    machine, nodes = sweep.machine, len(sweep.room["mu"])
    stage, mu = sweep.stage, random.standard_normal((nodes, 4))
    stage[:-1] = random.standard_normal((runner.bodies, stage.shape[1]))
    mu[-1] = 0
    x, none = np.zeros((nodes, 4)), np.zeros(0)
    multiplier = random.standard_normal((nodes, 3))
    parts, room = machine.parts, (np.zeros((nodes, 3)), x, np.zeros(12), none, none)
    step = Step(
        *(0.0, 0.1, machine.length, machine.speeds, 0.0, tables.DIRECTORS, False, none, none),
        *(sweep.room["state"], stage, multiplier, machine.bodies.places, *room),
    )

    def slope(array, place):
        """Of mu times residuals, which are quadratic, by an entry of an array."""
        found, value = [], array[place]
        for change in (1.0, -1.0):
            x[:], array[place] = 0, value + change
            act(parts, step, None)
            found.append(np.sum(x[:-1] * mu[:-1, :4]))
        array[place] = value
        return (found[0] - found[1]) / 2

    frames = sweep.room["frames"]
    backward(parts, sweep.by_parts, step, mu, frames)
    for place in np.ndindex(runner.bodies, frames.shape[1]):
        assert slope(stage, place) == pytest.approx(frames[place], rel=1e-10, abs=1e-10)
    for part, by in ((parts.Points, sweep.by_parts.Points), (parts.Rows, sweep.by_parts.Rows)):
        for place in np.ndindex(part.numbers.shape):
            expected = -slope(part.numbers, place)
            assert by.numbers[place] == pytest.approx(expected, rel=1e-10, abs=1e-10)
