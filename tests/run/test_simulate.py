"""The time loop: when it stops, what it keeps, and what it refuses."""

import numpy as np
import pytest
import sympy as sp
from parts import cartesian_pendulum, mass, nonlinear, oscillator
from schemes import GENERAL

import poinsot as ps
from poinsot import ph


def run(system=None, **options):
    return ps.simulate(
        oscillator() if system is None else system,
        **{"h": 0.1, "t_end": 1.0, "x0": [1.0, 0.0], **options},
    )


# -- time -------------------------------------------------------------------------------------


def test_the_last_step_is_shortened_to_hit_the_end():
    result = run(t_end=0.95)
    assert result.stats.steps == 10
    assert result.time[-1] == 0.95
    assert np.allclose(np.diff(result.time), [0.1] * 9 + [0.05])
    # A step of its own size, not of h: Cayley of each step.
    A = np.array([[0, 0.5], [-3, 0]])
    x = np.array([1.0, 0.0])
    for h in np.diff(result.time):
        x = np.linalg.solve(np.eye(2) - h / 2 * A, (np.eye(2) + h / 2 * A) @ x)
    assert np.allclose([result["oscillator.q"][-1], result["oscillator.p"][-1]], x, atol=1e-13)


@pytest.mark.parametrize(
    ("h", "t_end", "steps"), [(0.1, 0.3, 3), (0.01, 7, 700), (0.7 / 699, 0.7, 699)]
)
def test_round_off_makes_no_extra_step(h, t_end, steps):
    result = run(h=h, t_end=t_end)
    assert result.stats.steps == steps
    assert result.time[-1] == t_end


def test_a_step_longer_than_the_span_is_cut():
    assert list(run(h=5.0, t_end=0.5).time) == [0, 0.5]


def test_the_clock_may_start_anywhere():
    seen = []

    def force(t):
        seen.append(t)
        return np.sin(t)

    late = run(t_start=2.0, t_end=3.0, inputs={"oscillator.force": force})
    assert late.time[0] == 2.0
    shifted = run(inputs={"oscillator.force": lambda t: np.sin(t + 2)})
    assert np.allclose(late["oscillator.p"], shifted["oscillator.p"], atol=1e-13)
    assert np.allclose(late.port("oscillator.force").time, np.arange(2.05, 3, 0.1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"h": 0}, "the step h is 0 s; it must be positive"),
        ({"h": -0.1}, "the step h is -0.1 s; it must be positive"),
        ({"h": np.nan}, "h is nan; it must be a finite number"),
        ({"h": np.inf}, "h is inf"),
        ({"t_end": np.nan}, "t_end is nan"),
        ({"t_end": 0.0}, "t_end = 0 s is not after t_start = 0 s"),
        ({"t_start": 2.0}, "t_end = 1 s is not after t_start = 2 s"),
        ({"engine": "warp"}, "no engine 'warp'; choose from auto, reference"),
        ({"scheme": "euler"}, "no scheme 'euler'; known: 'ph-mp'"),
        ({"save_every": 0}, "save_every is 0"),
        ({"save_every": 10**30}, "at most 1e"),
        ({"h": 1e-300}, "the step h is 1e-300 s, which gives more than 1e"),
        ({"t_end": 1e300}, "more than 1e.15 steps from t_start = 0 s to t_end = 1e.300 s"),
        ({"t_start": 1e16, "t_end": 1.1e16, "h": 1}, "is lost in the round-off of times near 1"),
        ({"x0": [1, 2, 3]}, "the state has 3 entries, expected 2"),
        ({"x0": {"oscillator.x": 1}}, "no state 'oscillator.x'; did you mean 'oscillator"),
        ({"x0": [np.nan, 0]}, "state 'oscillator.q' is nan"),
        ({"inputs": {"oscillator.forc": 1}}, "no port 'oscillator.forc'; did you mean"),
        ({"inputs": {"oscillator.force": np.nan}}, "port 'oscillator.force'.*not finite"),
        ({"inputs": {"oscillator.force": lambda t: np.nan}}, "port 'oscillator.force'.*t = 0 s"),
        ({"inputs": {"oscillator.force": lambda t: [1, 2]}}, r"'oscillator.force'.*shape \(2,\)"),
    ],
)
def test_bad_input_is_refused_before_anything_is_computed(options, message):
    with pytest.raises(ps.InputError, match=message):
        run(**options)


# -- what is kept -----------------------------------------------------------------------------


@pytest.mark.parametrize("every", [2, 3, 7, 100])
def test_saving_less_often_changes_nothing_but_what_is_saved(every):
    system = ph.feed(nonlinear("cosine", 0.1), "body.force", np.cos)
    full = ps.simulate(system, h=0.1, t_end=2.0, x0=[1, 0])
    thin = ps.simulate(system, h=0.1, t_end=2.0, x0=[1, 0], save_every=every)
    kept = sorted({*range(0, 21, every), 20})
    assert np.array_equal(thin.time, full.time[kept])
    assert np.array_equal(thin["body.q"], full["body.q"][kept])
    assert np.array_equal(thin.energy, full.energy[kept])
    assert np.array_equal(thin.dissipated, full.dissipated[kept])
    assert np.array_equal(thin.balance_error, full.balance_error[kept])
    a, b = thin.port("body.force"), full.port("body.force")
    assert np.array_equal(a.energy, b.energy[kept])
    assert np.array_equal(a.power, b.power[np.array(kept[1:]) - 1])
    assert full.stats.newton_iterations == full.stats.iterations.sum() > full.stats.steps
    for count in ("steps", "newton_iterations", "balance_error_max", "residual_max"):
        assert getattr(thin.stats, count) == getattr(full.stats, count)


def test_port_energy_is_the_sum_of_its_power():
    result = run(nonlinear("cosine", 0.1), inputs={"body.force": np.cos})
    port = result.port("body.force")
    assert not port.connected
    assert np.allclose(port.u[:, 0], np.cos(port.time))
    assert np.allclose(port.power, port.u[:, 0] * port.y[:, 0])
    assert np.allclose(port.energy, np.concatenate([[0], np.cumsum(0.1 * port.power)]))
    assert np.array_equal(result.supplied, port.energy)


def test_open_ports_do_no_work_and_fed_ones_do():
    system = ph.linear(
        "two",
        states=["q", "p"],
        J=[[0, 1], [-1, 0]],
        Q=np.eye(2),
        B=[[0, 0], [1, 1]],
        ports=[ph.Port("open"), ph.Port("fed")],
    )
    result = ps.simulate(system, h=0.1, t_end=1, inputs={"fed": 2.0})
    assert [p.status for p in system.ports] == ["open", "open"]  # the argument is left alone
    assert not result.port("open").energy.any()
    assert np.allclose(result.port("open").y, result.port("fed").y)
    assert np.allclose(result.port("fed").energy, result.energy, atol=1e-14)


def test_a_constant_force_on_a_mass_works_as_force_times_distance():
    result = ps.simulate(mass(m=2.0), h=0.1, t_end=3.0, inputs={"mass.force": 4.0})
    assert result.energy[-1] == pytest.approx(4.0 * (0.5 * 2.0 * 3.0**2), rel=1e-13)


def test_a_state_without_derivative_has_its_midpoint_value():
    # Tension at the lowest point of a pendulum at rest: lam = m g exactly.
    result = ps.simulate(cartesian_pendulum(), h=0.1, t_end=0.5, x0={"q": [0, -1]})
    assert np.allclose(result["lam"][1:], 9.81, rtol=1e-12)


@pytest.mark.parametrize("potential", ["exp(q) - q - 1", "1 - cos(q)", "q**2/2 + q**3/3", "q**4"])
@pytest.mark.parametrize("scheme", GENERAL)
def test_a_system_at_rest_in_its_equilibrium_stays_there(potential, scheme):
    q, p = sp.symbols("q p")
    system = ph.symbolic(
        "rest",
        states={"q": q, "p": p},
        H=sp.sympify(potential) + p**2 / 2,
        J=[[0, 1], [-1, 0]],
        B=[[0], [1]],
        ports=[ph.Port("u")],
    )
    result = ps.simulate(system, h=0.1, t_end=1, scheme=scheme)
    assert np.abs(result["q"]).max() <= 1e-15


@pytest.mark.parametrize("amplitude", [1e-2, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("scheme", GENERAL)
def test_small_oscillations_of_a_pendulum_are_harmonic(scheme, amplitude):
    # H = 1 - cos q + p^2/2: near the minimum a small difference of large numbers.
    q, p = sp.symbols("q p")
    system = ph.symbolic(
        "pendulum",
        states={"q": q, "p": p},
        H=1 - sp.cos(q) + p**2 / 2,
        J=[[0, 1], [-1, 0]],
        B=[[0], [1]],
        ports=[ph.Port("u")],
    )
    h, steps = 0.05, 40
    result = ps.simulate(system, h=h, t_end=steps * h, x0=[amplitude, 0], scheme=scheme)
    midpoint = amplitude * np.cos(steps * 2 * np.arctan(h / 2))
    assert result["q"][-1] == pytest.approx(midpoint, abs=amplitude * max(amplitude**2, 1e-6))


@pytest.mark.parametrize("scheme", GENERAL)
def test_a_damped_pendulum_comes_to_rest(scheme):
    q, p = sp.symbols("q p")
    system = ph.symbolic(
        "pendulum",
        states={"q": q, "p": p},
        H=1 - sp.cos(q) + p**2 / 2,
        J=[[0, 1], [-1, 0]],
        R=[[0, 0], [0, 1]],
        B=[[0], [1]],
        ports=[ph.Port("u")],
    )
    result = ps.simulate(system, h=0.2, t_end=60.0, x0=[1.0, 0], scheme=scheme)
    assert abs(result["q"][-1]) <= 1e-12
    assert result.stats.balance_error_max <= (
        1e-3 if ps.SCHEMES[scheme].exact_energy == "quadratic" else 1e-13
    )


# -- failure ----------------------------------------------------------------------------------


def well():
    """H = q - log(q) + p^2/2, at rest at q = 1."""
    q, p = sp.symbols("q p")
    return ph.symbolic(
        "well",
        states={"q": q, "p": p},
        H=q - sp.log(q) + p**2 / 2,
        J=[[0, 1], [-1, 0]],
        B=[[0], [1]],
        ports=[ph.Port("push")],
    )


def test_a_failed_step_reports_time_step_history_and_the_worst_equation():
    def push(t):
        return 0.0 if t < 0.5 else -5.0

    once = ps.Newton(max_iterations=1, halvings=0)
    with pytest.raises(ps.SimulationError) as error:
        run(well(), inputs={"push": push}, newton=once)
    message = str(error.value)
    assert "system 'well', step 6 from t = 0.5 s with h = 0.1 s: no convergence in 1" in message
    assert "worst equation 'q'" in message or "worst equation 'p'" in message
    history = message.split("relative residuals ")[1].split(";")[0].split(", ")
    assert len(history) == 2
    assert 0 < float(history[1]) < float(history[0])
    assert "try a smaller step" in message
    result = error.value.result
    assert result.status == "failed"
    assert result.message == message
    assert result.stats.steps == 5
    assert np.allclose(result.time, np.arange(6) * 0.1)
    assert np.allclose(result["q"], 1.0)
    assert run(well(), inputs={"push": push}).status == "done"


def test_an_undetermined_state_is_reported_as_a_singular_tangent():
    system = ph.linear(
        "loose",
        states=["p", "lam"],
        E=np.diag([1, 0]),
        Q=np.eye(2),
        J=np.zeros((2, 2)),
        B=[[1], [0]],
        ports=[ph.Port("push")],
    )
    with pytest.raises(ps.SimulationError, match="tangent is singular: an undetermined state"):
        run(system, x0=[1, 0], inputs={"push": 1.0})


def test_a_repeated_constraint_is_reported_as_a_singular_tangent():
    a = ph.linear(
        "a", states=["a.p"], J=[[0]], Q=[[0.3]], B=[[1, 1]], ports=[ph.Port("a.1"), ph.Port("a.2")]
    )
    b = ph.linear(
        "b",
        states=["b.p"],
        J=[[0]],
        Q=[[0.7]],
        B=[[1, 1, 1]],
        ports=[ph.Port("b.1"), ph.Port("b.2"), ph.Port("b.push")],
    )
    system = ph.interconnect(
        a, b, connections=[ph.Transformer("a.1", "b.1", 0.3), ph.Transformer("a.2", "b.2", 0.3)]
    )
    with pytest.raises(ps.SimulationError, match="singular"):
        run(system, x0=None, inputs={"b.push": 1.0})


def test_an_input_that_turns_nan_stops_the_run_and_keeps_the_rest():
    with pytest.raises(ps.SimulationError) as error:
        run(inputs={"oscillator.force": lambda t: np.nan if t > 0.5 else 0.0})
    assert "step 6 from t = 0.5 s" in str(error.value)
    assert "port 'oscillator.force': the input at t = 0.55 s is [nan], not finite" in str(
        error.value
    )
    assert error.value.result.stats.steps == 5
    assert error.value.result.status == "failed"


def test_equations_that_turn_nan_are_reported():
    bad = ph.from_functions(
        "bad",
        states=["q", "p"],
        H=lambda x: x @ x / 2,
        z=lambda x: x if x[0] > 0.5 else np.full(2, np.nan),
        dz=lambda x: np.eye(2),
        J=[[0, 1], [-1, 0]],
        quadratic=True,
    )
    with pytest.raises(ps.SimulationError) as error:
        run(bad, t_end=3.0)
    assert error.value.result["q"][-1] > 0.5
    assert "system 'bad', step" in str(error.value)


def test_an_interrupt_returns_everything_before_it():
    def force(t):
        if t > 0.5:
            raise KeyboardInterrupt
        return np.cos(t)

    result = run(inputs={"oscillator.force": force})
    assert result.status == "interrupted"
    assert "interrupted at t = 0.5 s" in result.message
    assert result.stats.steps == 5
    whole = run(inputs={"oscillator.force": np.cos})
    for a, b in ((result.time, whole.time), (result["oscillator.p"], whole["oscillator.p"])):
        assert np.array_equal(a, b[:6])
    assert np.array_equal(
        result.port("oscillator.force").energy, whole.port("oscillator.force").energy[:6]
    )


def test_an_interrupt_keeps_the_last_step_even_if_it_was_not_due():
    def force(t):
        if t > 0.7:
            raise KeyboardInterrupt
        return 0.0

    result = run(inputs={"oscillator.force": force}, save_every=4)
    assert result.stats.steps == 7
    assert result.time[-1] == pytest.approx(0.7)
