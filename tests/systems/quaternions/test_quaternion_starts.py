"""A start in quaternions that makes no sense is refused, with what is wrong and by how much."""

import numpy as np
import pytest
from parts import oscillator

import poinsot as ps
from poinsot import ph


def pendulum():
    """A box on a ball a metre beside its centre, at rest."""
    model = ps.Model(name="pendulum")
    box = model.add_body("box", ps.Box(mass=1, size=(1, 2, 3)))
    model.add_joint("ball", ps.Spherical(model.ground, box, point=(1, 0, 0)))
    return model


def run(what, scheme="eml", **options):
    return ps.simulate(what, scheme=scheme, h=0.01, t_end=0.02, engine="reference", **options)


HOME = [0, 0, 0, 1, 0, 0, 0]
#: About z at 2 rad/s, with the velocity that suits the ball.
SPIN = [0, -2, 0, 0, 0, 0, 1]
STARTS = {
    "a quaternion that is too long": (
        {"box.q": [0, 0, 0, 1, 1, 0, 0]},
        r"body 'box': its quaternion \[1.0, 1.0, 0.0, 0.0\] has norm 1.41421356, not 1; divide",
    ),
    "no quaternion": ({"box.q": [0] * 7}, "has norm 0, not 1"),
    "a quaternion that is no number": ({"box.q": [0, 0, 0, np.nan, 0, 0, 0]}, "is nan, not finite"),
    "an open joint": (
        {"box.q": [0.1, 0, 0, 1, 0, 0, 0]},
        r"violates the constraint 'ball\[0\]' by 0.1; correct the coordinates",
    ),
    "a velocity against the joint": (
        {"box.v": [0.1, 0, 0, 0, 0, 0, 0]},
        r"violates the rate of the constraint 'ball\[0\]' by 0.1; correct the velocities",
    ),
    "eight numbers": ({"box.q": [0] * 8}, "box.q"),
    "an unknown body": ({"bix.q": HOME}, "no state 'bix.q'; did you mean 'box.q'"),
}


@pytest.mark.parametrize("scheme", ["eml", "emh"])
@pytest.mark.parametrize("what", STARTS)
def test_a_wrong_start_is_refused(what, scheme):
    x0, message = STARTS[what]
    with pytest.raises(ps.PoinsotError, match=message):
        run(pendulum(), scheme, x0=x0)


def test_a_quaternion_that_grows_is_refused():
    with pytest.raises(ps.PoinsotError, match=r"the rate of the constraint 'box.unit' by 1; corr"):
        run(pendulum(), x0={"box.v": [-2, 0, 0, 1, 0, 0, 0]})


@pytest.mark.parametrize("scheme", ["eml", "null-eml", "emh", "emh-mean"])
def test_velocities_are_enough_in_every_form(scheme):
    result = run(pendulum(), scheme, x0={"box.q": HOME, "box.v": SPIN})
    np.testing.assert_allclose(result.angular_velocity("box")[0], [0, 0, 2], atol=1e-14)
    np.testing.assert_allclose(result.velocity("box")[0], [0, -2, 0], atol=1e-14)
    np.testing.assert_allclose(result.energy, result.energy[0], rtol=1e-12)


def test_momenta_that_are_not_those_of_the_velocities_are_refused():
    start = {"box.v": SPIN, "box.p": [0, -3, 0, 0, 0, 0, 0]}
    with pytest.raises(ps.PoinsotError, match=r"momentum 'box.p\[\d\]' .* leave the momenta out"):
        run(pendulum(), x0=start)
    with pytest.raises(ps.InputError, match="give velocities v or momenta p, not both"):
        run(pendulum(), "emh", x0=start)


def test_systems_and_schemes_that_do_not_fit_are_refused():
    model = pendulum()
    with pytest.raises(
        ps.InputError, match="system 'pendulum' is in quaternions and needs a scheme"
    ):
        run(model.compile("quaternions"), "ph-mp")
    with pytest.raises(ps.InputError, match="system 'pendulum' does not have the form 'livens'"):
        run(model.compile("directors"), "eml")
    with pytest.raises(
        ps.InputError, match="system 'oscillator' does not have the form 'hamiltonian'"
    ):
        run(oscillator(), "emh")
    with pytest.raises(ps.InputError, match="need coordinates 'directors'"):
        model.compile("quaternions", stabilised=True)
    with pytest.raises(ps.InputError, match="no coordinates 'quaternion'; did you mean 'quatern"):
        model.compile("quaternion")


def test_a_system_that_is_no_lagrangian_is_refused_by_name():
    system = ph.linear("tank", states=["level"], J=[[0.0]], R=[[1.0]], Q=[[1.0]])
    with pytest.raises(ps.InputError, match="system 'tank' does not have the form 'livens'"):
        run(system)


@pytest.mark.parametrize("scheme", ["eml", "emh"])
def test_both_forms_and_the_way_back_have_the_same_start(scheme):
    system = pendulum().compile("quaternions")
    there = system.in_form("hamiltonian")
    back = there.in_form("livens")
    assert [state.name for state in back.states] == [state.name for state in system.states]
    np.testing.assert_allclose(back.start, system.start, atol=1e-14)
    assert there.H(there.start) == pytest.approx(system.H(system.start), abs=1e-14)
    one, other = (run(s, scheme) for s in (system, there))
    np.testing.assert_array_equal(one.energy, other.energy)
