import linear_models as known
import numpy as np
import pytest
from scipy.integrate import trapezoid

import poinsot as ps

A = ps.analysis


@pytest.mark.parametrize("coordinates", known.COORDINATES)
def test_a_pendulum_answers_as_its_equation_says(coordinates):
    model, inertia, weight = known.pendulum(damping=0.4)
    omega = np.geomspace(0.01, 100, 30)
    found = A.frequency_response(model, omega, coordinates=coordinates)
    exact = 1j * omega / (weight + 0.4j * omega - inertia * omega**2)
    assert np.max(abs(found.between("motor", "motor") / exact - 1)) < 1e-11
    assert found.magnitude.shape == (30, 1, 1)
    assert np.max(abs(found.phase[:, 0, 0] - np.unwrap(np.angle(exact)))) < 1e-9


def test_a_closed_loop_answers_as_its_minimal_form():
    model, mass, stiffness = known.slider_crank()
    omega = np.array([0.0, 1.0, 30.0, 200.0])
    found = A.frequency_response(model, omega)
    exact = 1j * omega / (stiffness - mass * omega**2)
    assert np.max(abs(found.values[:, 0, 0] - exact)) < 1e-11 * np.max(abs(exact))


def test_a_large_chain_answers_as_a_recursion_says():
    model, _ = known.chain(300)
    model.add_port("near", ps.JointPort("j0"))
    model.add_port("far", ps.JointPort("j299"))
    omega = np.array([0.05, 3.0, 25.0])
    found = A.frequency_response(model, omega)
    for w, table in zip(omega, found.values, strict=True):
        K = 100 * (2 * np.eye(300) - np.eye(300, k=1) - np.eye(300, k=-1))
        K[-1, -1] = 100
        exact = 1j * w * np.linalg.inv(K - w**2 * np.eye(300))[np.ix_([0, -1], [0, -1])]
        assert np.max(abs(table - exact)) < 1e-9 * np.max(abs(exact))


def test_it_is_infinite_at_an_eigenfrequency_without_damping_and_passive_elsewhere():
    model, *_ = known.pendulum()
    eigen = A.modes(model).frequencies[0]
    found = A.frequency_response(model, [eigen, 1.0])
    assert abs(found.values[0, 0, 0]) > 1e12
    damped = A.frequency_response(known.pendulum(damping=0.1)[0], np.geomspace(0.1, 100, 50))
    assert np.all(damped.values.real >= 0)


def test_repeated_constraints_do_not_matter_to_the_response():
    model, _ = known.four_bar()
    model.add_port("motor", ps.JointPort("A"))
    M = 2 * ((1 + 0.05**2) / 12 + 0.25) + 2.0
    found = A.frequency_response(model, [2.0]).values[0, 0, 0]
    assert found == pytest.approx(2j / (30 + 3 * 9.81 + 0.6j - 4 * M), rel=1e-11)


def test_ports_are_chosen_by_name():
    model, *_ = known.pendulum()
    model.add_port("tip", ps.ForcePort(model.bodies["rod"], point=(0, 0, -1)))
    found = A.frequency_response(model, [1.0], inputs="motor", outputs=["tip[1]", "tip"])
    assert found.outputs == ("tip[1]", "tip[0]", "tip[1]", "tip[2]")
    assert found.inputs == ("motor",)
    assert found.values[0, 1, 0] == 0
    assert found.between("tip[1]", "motor") == found.values[0, 0, 0]
    with pytest.raises(ps.InputError, match="did you mean 'motor'"):
        A.frequency_response(model, [1.0], inputs="moter")
    with pytest.raises(ps.InputError, match="no output 'x'"):
        found.between("x", "motor")


@pytest.mark.parametrize("frequencies", [[], [1.0, np.nan], np.inf, "fast"])
def test_frequencies_and_speeds_that_are_none_are_refused(frequencies):
    model, *_ = known.pendulum()
    with pytest.raises(ps.InputError, match="frequencies: expected"):
        A.frequency_response(model, frequencies)
    with pytest.raises(ps.InputError, match="speeds: expected"):
        A.campbell(lambda speed: model, frequencies)


def test_a_port_without_effect_is_named():
    model, *_ = known.pendulum()
    model.add_port("along", ps.TorquePort(model.bodies["rod"]))
    with pytest.raises(ps.NoEffectError, match=r"'along\[1\]' has no effect"):
        A.frequency_response(model, [1.0, 2.0], inputs="along[1]")
    with pytest.raises(ps.InputError, match="has no ports"):
        A.frequency_response(known.four_bar()[0], [1.0])


def test_poles_and_zeros_of_two_masses_are_those_of_the_closed_form():
    # Driven and seen at the first mass, the second one is the absorber: zeros are its own.
    model, exact = known.chain(2)
    model.add_port("drive", ps.JointPort("j0"))
    model.add_port("far", ps.JointPort("j1"))
    poles = A.poles(model)
    assert np.max(abs(np.sort(poles.imag) - np.sort([*exact, *-exact]))) < 1e-11
    zeros = A.zeros(model, inputs="drive", outputs="drive")
    assert np.max(abs(np.sort(zeros.imag) - [-10, 0, 10])) < 1e-9
    assert np.max(abs(zeros.real)) < 1e-9
    assert np.max(abs(A.zeros(model, inputs="drive", outputs="far"))) < 1e-9
    with pytest.raises(ps.InputError, match="equal numbers"):
        A.zeros(model, inputs="drive")


def test_a_swapped_port_has_its_response_though_no_state_space():
    # Driven by its velocity, a mass answers by a force m a + k x: derivatives of the input.
    model, _ = known.chain(1)
    model.add_port("rail", ps.JointPort("j0"))
    linear = A.linearise(ps.ph.swap(model.compile(), "rail"))
    found = A.frequency_response(linear, [3.0]).values[0, 0, 0]
    assert abs(found) == pytest.approx(abs(3j + 100 / 3j), rel=1e-10)
    with pytest.raises(ps.InputError, match="derivatives of its inputs"):
        linear.state_space()


def test_a_swapped_port_leaves_a_rigid_mode_that_is_exactly_zero():
    model, _, _ = known.pendulum()
    modes = A.modes(ps.ph.swap(model.compile(), "motor"))
    assert modes.kinds == ("rigid",)


def test_converters_keep_the_response():
    model, inertia, weight = known.pendulum(damping=0.4)
    linear = A.linearise(model)
    exact = 2j / (weight + 0.8j - 4 * inertia)
    form = linear.state_space()
    n = len(form.A)
    assert n == 2
    value = form.C @ np.linalg.solve(2j * np.eye(n) - form.A, form.B) + form.D
    assert value[0, 0] == pytest.approx(exact, rel=1e-11)
    control = linear.to_control()
    assert control(2j) == pytest.approx(exact, rel=1e-11)
    assert control.input_labels == ["motor"]
    assert linear.to_pymor().transfer_function.eval_tf(2j)[0, 0] == pytest.approx(exact, rel=1e-10)


def test_a_missing_package_names_the_extra(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(ps.MissingExtraError, match=r"poinsot\[analysis\]"):
        A.linearise(known.pendulum()[0]).to_control()


def test_the_spectrum_of_a_swing_has_its_peak_at_the_eigenfrequency():
    model, inertia, weight = known.pendulum()
    linear = A.linearise(model)
    run = ps.simulate(
        linear, h=0.02, t_end=60.0, inputs={"motor": lambda t: 1.0 if t < 0.1 else 0.0}
    )
    values = run["rod.q"][:, 1]
    omega, density = A.power_spectrum(run, values)
    assert abs(omega[np.argmax(density)] - np.sqrt(weight / inertia)) < 2 * np.pi / 60
    assert trapezoid(density, omega) == pytest.approx(np.var(values), rel=0.02)
    assert A.power_spectrum(run, "rod.q")[1].shape == (omega.size, 12)
    with pytest.raises(ps.InputError, match="saved times"):
        A.power_spectrum(run, values[:-1])


def test_diagrams_show_a_line_for_each_pair():
    model, _ = known.chain(2)
    model.add_port("a", ps.JointPort("j0"))
    model.add_port("b", ps.JointPort("j1"))
    found = A.frequency_response(model, np.geomspace(0.1, 100, 20))
    assert [len(ax.lines) for ax in ps.viz.plot_bode(found).axes] == [4, 4]
    assert len(ps.viz.plot_nyquist(found).axes[0].lines) == 6
    assert (
        ps.viz.plot_spectrum(np.arange(3.0), np.ones(3)).axes[0].get_xlabel() == "frequency [rad/s]"
    )
