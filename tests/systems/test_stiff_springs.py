"""Springs much stiffer than a step can follow: exact, or an honest stop."""

import pytest

import poinsot as ps


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
@pytest.mark.parametrize("stiffness", [1e2, 1e6, 1e9, 1e12])
def test_a_stiff_spring_keeps_its_balances_or_says_that_it_cannot(stiffness, scheme):
    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body(
        "bar",
        ps.Box(mass=1, size=(1, 0.1, 0.1)),
        position=(0.5, 0, 0),
        angular_velocity=(0, 0, 1),
    )
    model.add_joint("hook", ps.Spherical(model.ground, bar, point=(0, 0, 0)))
    ball = model.add_body("ball", ps.Sphere(mass=1, radius=0.1), position=(1, 0, -1))
    spring = ps.Spring(bar, ball, (1, 0, 0), (1, 0, -1), stiffness=stiffness, rest_length=0.999)
    model.add_force("spring", spring)
    try:
        result = ps.simulate(model, h=0.01, t_end=0.5, scheme=scheme)
    except ps.SimulationError as error:
        assert stiffness > 1e9
        result = error.result
    assert result.stats.balance_error_max <= 1e-10 * abs(result.energy).max()
    assert result.constraint_error.max() <= 1e-13
