"""Round-off in the values of functions, found from outside: by the terms that they are made of."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws

from poinsot.run.noise import noise_level

EPS = np.finfo(float).eps
powers = st.floats(-10, 0).map(lambda power: 10.0**power)


@laws(60)
@given(powers, powers, st.floats(-8, 8).map(lambda power: 10.0**power))
def test_terms_that_cancel_are_felt_by_their_own_round_off(q, p, weight):
    def energy(x):
        return weight * (1 - np.cos(x[0])) + x[1] ** 2 / 2

    x = np.array([q, p])
    assert 0.02 * EPS * weight < noise_level(energy, x, abs(x)) < 2 * EPS * (weight + p**2)


@laws(60)
@given(powers, powers, st.floats(-8, 8).map(lambda power: 10.0**power))
def test_what_does_not_cancel_is_known_to_the_round_off_of_its_value(q, p, weight):
    def energy(x):
        return 2 * weight * np.sin(x[0] / 2) ** 2 + x[1] ** 2 / 2

    x = np.array([q, p])
    assert noise_level(energy, x, abs(x)) < 4 * EPS * energy(x)


def test_what_does_not_depend_on_its_arguments_or_has_no_value_there_has_no_noise():
    x = np.array([0.3, 0.0])
    for f in (lambda x: 1.0, lambda x: x[1], lambda x: float("nan")):
        assert noise_level(f, x, np.array([1.0, 0.0])) == 0
