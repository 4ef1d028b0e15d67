"""Turns of bodies on the way back: derivatives of their own equations."""

import numpy as np
import pytest

from poinsot.bodies.turns_backward import livens_back
from poinsot.kernels.quaternions import dot_quat, inner
from poinsot.kernels.turning import after, turn_of


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
