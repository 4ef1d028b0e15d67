"""The heavy top against its closed form, which is held against independent numbers."""

import numpy as np
import pytest
from numerics import observed_orders

import poinsot as ps
from poinsot.gallery import heavy_top
from poinsot.gallery.extrapolation import extrapolate
from poinsot.gallery.heavy_top import EXAMPLE, Top, measured, model

SCHEMES = ("ph-mp", "ph-mp-ggl")
TOP = Top()
#: Steady precession with 15 digits: centre of mass [m], R (by rows) and reaction at the tip [N].
REFERENCE = {
    0.1: (
        (5.46551437043361e-02, -3.50936641953839e-02, 3.75e-02),
        (
            (-5.77643090075132e-02, -6.82354908313633e-01, 7.28735249391148e-01),
            (6.85540193947459e-01, -5.57754162860000e-01, -4.67915522605119e-01),
            (7.25739572496474e-01, 4.72548487366783e-01, 5.00000000000000e-01),
        ),
        (-3.86334445370483e00, 2.48062494653472e00, 6.93428038463607e00),
    ),
    2.0: (
        (5.92975334545859e-02, -2.65057074269347e-02, 3.75e-02),
        (
            (-1.77165467091196e-01, -5.86097794016289e-01, 7.90633779394479e-01),
            (6.49631711031788e-01, -6.73112481790012e-01, -3.53409432359129e-01),
            (7.39317954125469e-01, 4.51008827749225e-01, 5.00000000000000e-01),
        ),
        (-4.19149564823075e00, 1.87357805393981e00, 6.93428038463607e00),
    ),
}


def reference(t):
    position, rotation, reaction = (np.array(values) for values in REFERENCE[t])
    return np.concatenate([position, reaction, rotation.reshape(-1)])


def run(scheme, h, t):
    return measured(ps.simulate(model(), scheme=scheme, h=h, t_end=t + h), t)


@pytest.mark.parametrize("t", REFERENCE)
def test_the_closed_form_is_that_of_steady_precession(t):
    values = TOP.position(t)[0], TOP.reaction(t)[0], TOP.rotation(t)[0].reshape(-1)
    np.testing.assert_allclose(np.concatenate(values), reference(t), rtol=0, atol=2e-13)


def test_the_parameters_are_those_of_the_paper():
    J1, J3 = TOP.inertia
    assert pytest.approx(7.06858347057703e-01, rel=1e-14) == TOP.mass
    assert pytest.approx(4.50622196249286e-03, rel=1e-14) == J1
    assert pytest.approx(5.30143760293278e-04, rel=1e-14) == J3
    assert pytest.approx(135.6, rel=1e-14) == TOP.spin
    assert pytest.approx(5.66905519063294, rel=1e-14) == TOP.energy
    assert pytest.approx(7.10657710673139e-02, rel=1e-14) == TOP.vertical_momentum


@pytest.mark.parametrize("scheme", SCHEMES)
def test_position_rotation_and_reaction_converge_with_order_two(scheme):
    steps = 5e-4, 2.5e-4, 1.25e-4
    errors = abs(np.array([run(scheme, h, 0.1) for h in steps]) - reference(0.1))
    for part in (slice(0, 3), slice(3, 6), slice(6, 15)):
        orders = observed_orders(steps, np.linalg.norm(errors[:, part], axis=1))
        np.testing.assert_allclose(orders, 2.0, atol=0.1)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_limit_of_small_steps_is_the_closed_form(scheme):
    limit = extrapolate([run(scheme, h, 0.1) for h in (1e-3, 5e-4, 2.5e-4, 1.25e-4)])
    error = abs(limit - reference(0.1))
    assert error[:3].max() < 1e-13
    assert error[3:6].max() < 1e-9
    assert error[6:].max() < 1e-10


@pytest.mark.parametrize("scheme", SCHEMES)
def test_energy_and_vertical_momentum_are_conserved(scheme):
    result = EXAMPLE.run(scheme=scheme)
    assert np.ptp(result.energy) < 5e-13
    assert np.ptp(result.angular_momentum[:, 2]) < 1e-15
    assert result.constraint_error.max() < 1e-13


def test_a_single_reaction_of_ph_mp_is_of_order_one_and_its_mean_with_the_next_of_order_two():
    steps = 1e-3, 5e-4, 2.5e-4
    single, mean = [], []
    for h in steps:
        record = ps.simulate(model(), h=h, t_end=0.1).reaction("tip")
        single.append(np.linalg.norm(record.force[-1] - TOP.reaction(record.time[-1])[0]))
        mean.append(np.linalg.norm(record.force[-2:].mean(axis=0) - TOP.reaction(0.1 - h)[0]))
    np.testing.assert_allclose(observed_orders(steps, single), 1.0, atol=0.1)
    np.testing.assert_allclose(observed_orders(steps, mean), 2.0, atol=0.1)


def test_the_figure_is_drawn():
    assert heavy_top.plot(EXAMPLE.run()).axes
