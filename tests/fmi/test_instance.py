"""An instance of an FMU goes on as a simulation does, and back; what it cannot do is said."""

import numpy as np
import pytest
from halves import first, second

import poinsot as ps
from poinsot.fmi.instance import DiscardedStepError, Instance
from poinsot.fmi.interface import Interface
from poinsot.model import Simulation

STEP = 1e-3


def instance(model, step=STEP, parameters=(), outputs=(), scheme=None):
    """Return an instance of a model as its file holds it."""
    simulation = Simulation(step=step, scheme=scheme)
    model.simulation = simulation
    own = ps.Model.from_yaml_text(model.to_yaml())
    return Instance(own, Interface.of(own, simulation, parameters, outputs))


def references(of, *names):
    """Return the value references of variables."""
    known = [variable.name for variable in of.interface.variables]
    return [known.index(name) for name in names]


def get(of, *names):
    return of.get(references(of, *names))


def put(of, **values):
    of.set(references(of, *(name.replace("__", ".") for name in values)), list(values.values()))


def begun(model, **options):
    made = instance(model, **options)
    made.set_up(0.0)
    made.initialise()
    return made


def test_with_held_inputs_it_is_the_simulation_of_a_staircase():
    times, torques = np.array([0.0, 0.02, 0.05]), [1.0, -2.0, 0.5]
    staircase = lambda t: torques[np.searchsorted(times, t, side="right") - 1]  # noqa: E731
    result = ps.simulate(first(), h=STEP, t_end=0.1, inputs={"shaft": staircase})
    run = begun(first())
    for start, end, torque in zip(times, [*times[1:], 0.1], torques, strict=True):
        put(run, shaft__u=torque)
        run.step(start, end - start)
    angle, rate, y, supplied, energy, error = get(
        run, "angle", "hinge.angle.rate", "shaft.y", "shaft.energy", "energy", "balance_error"
    )
    hinge = result.joint("hinge")
    assert angle == pytest.approx(hinge.coordinates["angle"][-1], abs=1e-13)
    assert rate == pytest.approx(hinge.rates["angle"][-1], abs=1e-12)
    assert y == pytest.approx(rate, abs=1e-12)
    assert supplied == pytest.approx(result.port("shaft").energy[-1], abs=1e-12)
    assert energy == pytest.approx(result.energy[-1], abs=1e-12)
    assert abs(error) < 1e-13


def test_a_communication_step_ends_in_a_shorter_step_if_need_be():
    run = begun(first())
    run.step(0.0, 3.3 * STEP)
    assert get(run, "time") == [pytest.approx(3.3 * STEP, abs=1e-15)]
    run.step(3.3 * STEP, 0.4 * STEP)
    result = ps.simulate(first(), h=STEP / 10, t_end=3.7 * STEP)
    assert get(run, "angle")[0] == pytest.approx(
        result.joint("hinge").coordinates["angle"][-1], abs=1e-8
    )


@pytest.mark.parametrize("make", [first, second])
def test_it_goes_on_bit_by_bit_from_states_that_it_or_another_one_has_saved(make):
    one, other = begun(make()), begun(make())
    names = "shaft.y", "shaft.energy", "energy", "hinge.angle"
    put(one, shaft__u=0.7)
    one.step(0.0, 0.01)
    state = one.state()
    packed = one.pack(state)
    one.step(0.01, 0.01)
    there = get(one, *names)
    put(one, shaft__u=-3.0)
    one.step(0.02, 0.005)
    one.restore(state)
    assert get(one, "time", "shaft.u") == [0.01, 0.7]
    one.step(0.01, 0.01)
    assert get(one, *names) == there
    other.restore(other.unpack(packed))
    other.step(0.01, 0.01)
    assert get(other, *names) == there


def test_a_state_before_the_start_holds_what_was_set():
    run = instance(first(), parameters=["bodies.bar.mass"])
    state = run.state()
    put(run, bodies__bar__mass=2.0)
    run.set_up(0.0)
    run.initialise()
    heavy = get(run, "energy")
    run.step(0.0, 0.01)
    run.restore(run.unpack(run.pack(state)))
    assert get(run, "bodies.bar.mass") == [1.0]
    run.initialise()
    assert heavy == get(run, "energy") == [0.0]  # it hangs at the height of the hinge
    run.step(0.0, 0.01)
    run.reset()
    assert get(run, "time") == [0.0]


def test_the_output_of_a_drive_is_the_mean_that_gives_its_energy():
    run, rate = begun(second()), 0.4
    put(run, shaft__u=rate)
    run.step(0.0, 0.01)
    torque, energy, stored = get(run, "shaft.y", "shaft.energy", "energy")
    assert energy == pytest.approx(rate * torque * 0.01, abs=1e-14)
    assert energy == pytest.approx(stored, abs=1e-12)


def coupled(T, end=0.5):
    """Return the energy that two halves of a pendulum gain together."""
    one, other = begun(first()), begun(second())
    before = get(one, "energy")[0] + get(other, "energy")[0]
    for k in range(round(end / T)):
        put(other, shaft__u=get(one, "shaft.y")[0])
        put(one, shaft__u=-get(other, "shaft.y")[0])
        one.step(k * T, T)
        other.step(k * T, T)
    through = get(one, "shaft.energy")[0] + get(other, "shaft.energy")[0]
    after = get(one, "energy")[0] + get(other, "energy")[0]
    assert after - before == pytest.approx(through, abs=1e-12)
    return through


def test_what_a_pendulum_of_two_halves_gains_falls_with_the_communication_step():
    coarse, middle, fine = (coupled(T) for T in (0.02, 0.01, 0.005))
    assert 1e-3 < abs(coarse) < 1.0  # J
    assert 1.8 < coarse / middle < 3.0
    assert 1.8 < middle / fine < 2.4


@pytest.mark.filterwarnings("ignore:overflow")
def test_a_step_that_fails_is_taken_back_and_says_why():
    run = begun(first())
    run.step(0.0, 0.01)
    before = get(run, "angle", "energy")
    put(run, shaft__u=1e300)
    with pytest.raises(DiscardedStepError, match=r"no step from t = 0\.01 s"):
        run.step(0.01, 0.01)
    put(run, shaft__u=0.0)
    assert get(run, "angle", "energy", "time") == [*before, 0.01]
    run.step(0.01, 0.01)


def test_controllers_are_sampled_in_whole_steps():
    model = first()
    model.add_port("brake", ps.JointPort("hinge"))
    model.add_controller("pd", "-hinge_rate", reads=["hinge.rate"], drives=["brake"], every=0.002)
    run = begun(model)
    run.step(0.0, 0.003)
    run.step(0.003, 0.007)
    free = ps.simulate(model, h=STEP, t_end=0.01)
    assert get(run, "angle")[0] == free.joint("hinge").coordinates["angle"][-1]
    with pytest.raises(DiscardedStepError, match="not a multiple of the step"):
        run.step(0.01, 0.0015)


def test_an_event_that_stops_the_run_stops_the_instance_where_it_happens():
    model = first()
    model.add_event("low", ps.Event("hinge.angle - 0.01", then="stop"))
    run = begun(model)
    stopped = run.step(0.0, 0.2)
    assert stopped
    assert get(run, "angle") == [pytest.approx(0.01, abs=1e-10)]


REFUSED = {
    "an output is set": (lambda run: put(run, energy=1.0), "is an output"),
    "a parameter is set": (lambda run: put(run, step_size=1.0), "fixed parameter"),
    "no number": (lambda run: put(run, shaft__u=np.nan), "finite number"),
    "another time": (lambda run: run.step(0.5, 0.1), "the instance is at t = 0 s"),
    "backwards": (lambda run: run.step(0.0, -0.1), "positive"),
    "no variable": (lambda run: run.get([99]), "no variable 99"),
    "no state": (lambda run: run.unpack(b"PK"), "not a state of this FMU"),
}


@pytest.fixture(scope="module")
def still():
    return begun(first())


@pytest.mark.parametrize("what", REFUSED)
def test_what_makes_no_sense_is_refused(what, still):
    ask, said = REFUSED[what]
    with pytest.raises(ps.InputError, match=said):
        ask(still)


def test_a_model_that_events_change_is_refused():
    model = first()
    model.add_force("spring", ps.JointSpring("hinge", stiffness=1.0))
    model.add_event("late", ps.Event("t - 0.1", then=ps.Switch("spring", on=False)))
    with pytest.raises(ps.InputError, match="event 'late' changes the model"):
        instance(model)


def test_parameters_and_outputs_that_are_not_there_are_refused_with_a_near_match():
    for given, said in (
        ({"parameters": ["bodies.bra.mass"]}, "did you mean"),
        ({"parameters": ["gravity"]}, "gravity.z"),
        ({"outputs": ["hinge.angel"]}, "did you mean 'angle'"),
        ({"outputs": ["hinge.torque"]}, "is a mean over steps"),
    ):
        with pytest.raises(ps.InputError, match=said):
            instance(first(), **given)
