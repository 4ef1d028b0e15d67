"""What constraints and turns add to a sweep backwards: derivatives of their own equations."""

import mechanisms
import numpy as np
import pytest

from poinsot.bodies.turns_backward import livens_back
from poinsot.engine.families import act, backward
from poinsot.kernels import tables
from poinsot.kernels.quaternions import dot_quat, inner
from poinsot.kernels.step import Step
from poinsot.kernels.turning import after, turn_of
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


@pytest.mark.parametrize("mean", [True, False])
def test_turns_in_livens_form_go_back_by_the_derivatives_of_their_equations(mean):
    random, h = np.random.default_rng(2), 0.3
    by_end = 0.7, (0.2, -0.4, 1.1), -0.5, (0.9, 0.3, -0.6)

    def quat(a):
        return a[0], tuple(a[1:])

    def value(given):
        """Of a, J, slip and Omega, share and Pi at the start: by_end times those at the end."""
        a, J, nu0, pi0 = tuple(given[:3]), tuple(given[3:6]), quat(given[6:10]), quat(given[10:])
        turn = turn_of(a, mean)
        nu1, _, pi1 = after(h, J, turn, nu0, pi0)
        slip, share = dot_quat(turn[0], nu1), dot_quat(turn[0], pi1)
        Omega, Pi = 2 * np.array(inner(turn[0], nu1)), np.array(inner(turn[0], pi1)) / 2
        return by_end[0] * slip + by_end[1] @ Omega + by_end[2] * share + by_end[3] @ Pi

    given = np.append(random.uniform(0.2, 1, 6), random.standard_normal(8))
    parts = tuple(given[3:6]), turn_of(tuple(given[:3]), mean), quat(given[6:10]), quat(given[10:])
    by_a, (slip, Omega, share, Pi), by_J = livens_back(h, *parts, by_end)
    # Omega is twice the vector of a velocity, Pi half of that of a momentum.
    found = [*by_a, *by_J, slip, *(2 * np.array(Omega)), share, *(np.array(Pi) / 2)]
    changes = 1e-3 * np.eye(given.size)
    ways = {1: 2 / 3, -1: -2 / 3, 2: -1 / 12, -2: 1 / 12}
    slopes = [sum(w * value(given + k * each) for k, w in ways.items()) / 1e-3 for each in changes]
    np.testing.assert_allclose(found, slopes, rtol=1e-8, atol=1e-8)
