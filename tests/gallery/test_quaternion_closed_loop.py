"""The closed loop in quaternions against an independent code of EML [KB24, sec. 5.5]."""

import numpy as np
import pytest

import poinsot as ps
from poinsot.gallery.closed_loop import EXACT, model
from poinsot.gallery.quaternion_closed_loop import BARS, EXAMPLE, off_velocity

#: Positions at 1 s and 5 s, then quaternions.
REFERENCE = {
    1.0: (
        (
            (9.823529286379, 0, 0),
            (5, 4.699109861802, 1.088485775414),
            (0.176470713621, 0, 0),
            (5, -4.699109861802, -1.088485775414),
        ),
        (
            (0.969638724868, 0.244541904867, 0, 0),
            (0.991128093755, 0.004246222706, -0.129542951514, -0.029422696600),
            (0.999811340002, -0.019423810225, 0, 0),
            (0.991128093755, 0.004246222706, 0.129542951514, 0.029422696600),
        ),
    ),
    5.0: (
        (
            (48.182740649832, 0, 0),
            (45, -2.568429127760, 1.879630245495),
            (41.817259350163, 0, 0),
            (45, 2.568429127761, -1.879630245496),
        ),
        (
            (-0.124187297438, 0.992258794446, 0, 0),
            (0.861989053773, 0.274315395412, 0.251468769099, -0.344222883005),
            (0.686215483360, 0.727398316191, 0, 0),
            (0.861989053776, 0.274315395398, -0.251468769105, 0.344222883001),
        ),
    ),
}
AFTER = slice(10, None)


@pytest.fixture(scope="module")
def published():
    return EXAMPLE.run()


@pytest.mark.parametrize(("t", "tolerance"), [(1.0, 1e-11), (5.0, 1e-9)])
def test_places_are_those_of_an_independent_code(published, t, tolerance):
    """The loop amplifies round-off."""
    ours = [published[f"{bar}.q"][round(t / 0.1)] for bar in BARS]
    np.testing.assert_allclose(ours, np.hstack(REFERENCE[t]), rtol=0, atol=tolerance)


def test_energy_of_the_published_run(published):
    np.testing.assert_allclose(published.energy[AFTER], 2095.475892587, rtol=0, atol=1e-9)
    assert published.stats.balance_error_max < 1e-10
    assert published.constraint_error.max() < 1e-13


def test_joints_that_are_open_in_the_middle_of_a_step_change_angular_momentum(published):
    """dL = h sum of lambda x g(q_m)."""
    lagrangian = model().compile("quaternions").lagrangian
    q = np.hstack([published[f"{bar}.q"] for bar in BARS])
    g = np.array([lagrangian.g(mean)[4:] for mean in (q[1:] + q[:-1]) / 2]).reshape(-1, 4, 3)
    lam = np.array([published[f"ball {k}-{(k + 1) % 4}"][1:] for k in range(4)]).swapaxes(0, 1)
    turned = published.h * np.cross(lam, g).sum(axis=1)[AFTER]
    changes = np.diff(published.angular_momentum, axis=0)[AFTER]
    np.testing.assert_allclose(changes, turned, rtol=0, atol=1e-11)
    assert abs(changes).max() > 0.05


def test_velocities_leave_the_unit_constraints(published):
    assert off_velocity(published).max() == pytest.approx(0.52785, abs=1e-4)


@pytest.mark.parametrize("h", [0.1, 0.05])
@pytest.mark.parametrize("scheme", ["eml-mean", "emh-mean"])
def test_mean_lever_arms_conserve_energy_and_angular_momentum(scheme, h):
    result = ps.simulate(model(EXACT), scheme=scheme, h=h, t_end=5.0)
    after = slice(round(1 / h), None)
    assert np.ptp(result.energy[after]) < 1e-10
    momenta = result.angular_momentum[after]
    np.testing.assert_allclose(momenta, [(300, 0, 0)] * len(momenta), rtol=0, atol=1e-11)
    np.testing.assert_allclose(result.linear_momentum[-1], (400, 0, 0), rtol=0, atol=1e-10)


@pytest.mark.parametrize("scheme", ["emh", "emh-mean"])
def test_hamilton_s_form_keeps_momenta_normal_to_quaternions(scheme):
    assert off_velocity(EXAMPLE.run(scheme=scheme)).max() < 1e-10


def test_the_figure_is_drawn(published):
    assert len(EXAMPLE.plot(published).axes) == 9
