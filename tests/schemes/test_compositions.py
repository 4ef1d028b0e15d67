"""Steps composed of substeps: their coefficients, what they keep, and what they refuse."""

from functools import partial
from importlib import import_module

import mechanisms
import numpy as np
import pytest
import sympy
from balance import turnover
from engines import assert_same, both
from hypothesis import assume, given
from hypothesis import strategies as st
from in_turn import in_turn
from mechanisms import laws
from numerics import observed_orders
from schemes import COMPOSED
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot import ph

#: Every composed scheme in all the coordinates that it takes.
METHODS = [
    *((scheme, None) for scheme in COMPOSED),
    ("ph-mp-4", "rotations"),
    ("ph-mp-6", "rotations-euler"),
]
seeds = st.integers(0, 10**6)


@pytest.mark.parametrize("scheme", COMPOSED)
def test_substeps_fulfil_the_conditions_of_their_order(scheme):
    gamma = np.array(ps.SCHEMES[scheme].substeps)
    assert gamma == pytest.approx(gamma[::-1], abs=1e-15)
    assert gamma.sum() == pytest.approx(1, abs=1e-14)
    assert (gamma**3).sum() == pytest.approx(0, abs=1e-14)
    if ps.SCHEMES[scheme].order == 6:
        assert (gamma**5).sum() == pytest.approx(0, abs=1e-14)


def undamped(seed, **options):
    """A random mechanism that loses nothing, with loads."""
    plan = mechanisms.ports(mechanisms.tree(seed, **options), seed + 1)
    random = np.random.default_rng(seed)
    start = plan.bodies["body0"]["position"] + mechanisms.unit(random)
    ends = {"a": "ground", "b": "body0", "point_a": start + 1.0, "point_b": start}
    return mechanisms.replace(plan, forces={"spring": ("Spring", {**ends, "stiffness": 20.0})})


@pytest.mark.parametrize("method", METHODS)
@laws(6)
@given(seed=seeds, bodies=st.integers(1, 3), loops=st.integers(0, 1), ground=st.booleans())
def test_energy_and_constraints_stay_exact(method, seed, bodies, loops, ground):
    scheme, coordinates = method
    model = undamped(seed, bodies=bodies, loops=loops, ground=ground).model()
    assume(model.check().freedoms > 0)
    result = ps.simulate(model, scheme=scheme, coordinates=coordinates, h=0.02, t_end=0.1)
    assert result.stats.steps == 5
    assert result.stats.balance_error_max <= 1e-11 * turnover(result)
    assert result.constraint_error.max() <= 1e-12
    if ps.SCHEMES[scheme].stabilised:
        assert result.velocity_constraint_error.max() <= 1e-11


@pytest.mark.parametrize("method", METHODS)
@laws(4)
@given(seed=seeds, loops=st.integers(0, 1))
def test_momentum_of_free_mechanisms_stays_exact(method, seed, loops):
    scheme, coordinates = method
    plan = mechanisms.tree(seed, bodies=3, ground=False, gravity=False, loops=loops)
    result = ps.simulate(plan.model(), scheme=scheme, coordinates=coordinates, h=0.02, t_end=0.2)
    for momentum in (result.angular_momentum, result.linear_momentum):
        assert abs(momentum - momentum[0]).max() <= 1e-12 * (1 + abs(momentum[0]).max())


@pytest.mark.parametrize(("seed", "method"), in_turn(range(8), METHODS))
def test_both_engines_take_the_same_substeps(seed, method):
    scheme, coordinates = method
    model = undamped(seed, bodies=2).model()
    runs = both(model, scheme=scheme, coordinates=coordinates, h=0.02, t_end=0.1)
    assert_same(*runs, rtol=1e-8)  # impulses of short substeps are rounded as those of long ones


def test_velocities_come_back_to_the_constraints_at_the_ends_of_steps():
    # In pairs of substeps the part of v normal to the constraints, O(h^2), is turned round again.
    model = mechanisms.pair("Spherical", 3, ground=True, gravity=True, speed=2).model()
    run = partial(ps.simulate, model, t_end=0.4)
    single, composed = run(scheme="ph-mp", h=0.002), run(scheme="ph-mp-4", h=0.02)
    assert composed.velocity_constraint_error.max() < 0.01 * single.velocity_constraint_error.max()


@pytest.mark.parametrize("scheme", COMPOSED)
def test_a_rod_on_a_ball_follows_an_independent_solution(scheme):
    # q'' = -(m g a / J) sin q, J about the hinge.
    model = ps.Model(gravity=(0, 0, -9.81))
    rod = model.add_body("rod", ps.Box(mass=2, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    ratio = 9.81 * 0.5 / ((1 + 0.01) / 12 + 0.25)
    exact = solve_ivp(
        lambda t, s: [s[1], ratio * np.cos(s[0])], (0, 1), [0, 0], rtol=1e-13, atol=1e-13
    ).y[:, -1]
    errors = []
    steps = (25, 50) if scheme.endswith("4") else (8, 16)
    for count in steps:
        joint = ps.simulate(model, scheme=scheme, h=1 / count, t_end=1).joint("hinge")
        errors.append(abs(joint.coordinates["angle"][-1] - exact[0]))
    assert errors[-1] < 1e-6
    order = ps.SCHEMES[scheme].order
    assert -observed_orders(steps, errors)[0] == pytest.approx(order, abs=0.5)


def pendulum(**options):
    angle, momentum = sympy.symbols("angle momentum")
    return ph.symbolic(
        "pendulum",
        states={"angle": angle, "momentum": momentum},
        H=momentum**2 / 2 + angle**2 / 2,
        J=[[0, 1], [-1, 0]],
        B=[[0], [1]],
        ports=[ph.Port("motor", 1, "N m", "rad/s")],
        **options,
    )


@pytest.mark.parametrize("scheme", ["ph-mp-4", "ph-mp-6"])
def test_systems_of_any_kind_converge_with_the_order(scheme):
    system = ph.feed(pendulum(), "motor", lambda t: np.cos(2 * t))
    # x'' + x = cos 2t from (1, 0): x = 4/3 cos t - 1/3 cos 2t.
    exact, steps, errors = 4 / 3 * np.cos(2.0) - np.cos(4.0) / 3, (8, 16), []
    for count in steps:
        run = ps.simulate(system, scheme=scheme, h=2 / count, t_end=2, x0={"angle": 1.0})
        errors.append(abs(run["angle"][-1] - exact))
    order = ps.SCHEMES[scheme].order
    assert -observed_orders(steps, errors)[0] == pytest.approx(order, abs=0.4)


def test_a_last_step_that_is_shorter_ends_on_time():
    result = ps.simulate(pendulum(), scheme="ph-mp-6", h=0.3, t_end=1.0, x0={"angle": 1.0})
    assert result.time == pytest.approx([0, 0.3, 0.6, 0.9, 1.0], abs=1e-15)
    assert result["angle"] == pytest.approx(np.cos(result.time), abs=1e-6)


# -- what goes with it -------------------------------------------------------------------------


def lever(engine, law, **options):
    """Return the run of a rod on a hinge that a sampled controller turns."""
    model = ps.Model()
    rod = model.add_body("rod", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    reads, drives = ["hinge", "hinge.rate"], ["hinge"]
    model.add_controller("pd", law, reads=reads, drives=drives, every=0.02)
    return ps.simulate(model, h=0.01, t_end=0.4, engine=engine, **options)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_sampled_controllers_are_called_once_a_sample_and_hold_through_all_substeps(engine):
    times = []

    def law(t, y):
        times.append(t)
        return 20 * (1 - y[0]) - 5 * y[1]

    fine = lever(engine, "20*(1 - hinge) - 5*hinge_rate", scheme="ph-mp-6")
    result = lever(engine, law, scheme="ph-mp-4")
    assert times == pytest.approx(np.arange(0, 0.4, 0.02), abs=1e-12)
    angles = [run.joint("hinge").coordinates["angle"] for run in (result, fine)]
    assert angles[0] == pytest.approx(angles[1], abs=1e-6)
    assert result.stats.balance_error_max < 1e-13


@pytest.mark.parametrize("scheme", COMPOSED)
def test_what_takes_energy_is_refused_before_a_step(scheme):
    model = mechanisms.pair("Revolute", 3, ground=True).model()
    model.add_force("friction", ps.JointFriction("J", viscous=0.1))
    with pytest.raises(ps.InputError, match=f"'{scheme}' goes back in time .* dampers"):
        ps.simulate(model, scheme=scheme, h=0.01, t_end=1)


def test_laws_of_ports_are_refused_by_name():
    model = mechanisms.pair("Revolute", 3, ground=True).model()
    model.add_port("motor", ps.JointPort("J", law=lambda t, angle, rate: -rate))
    with pytest.raises(ps.InputError, match="which the law of port 'motor' does not"):
        ps.simulate(model, scheme="ph-mp-4", h=0.01, t_end=1)


def test_controllers_in_continuous_time_are_refused_by_name():
    model = mechanisms.pair("Revolute", 3, ground=True).model()
    model.add_controller("brake", "-J_rate", reads=["J.rate"], drives=["J"])
    with pytest.raises(ps.InputError, match="which the law of controller 'brake' does not"):
        ps.simulate(model, scheme="ph-mp-4", h=0.01, t_end=1)


def test_resistors_beside_a_mechanism_are_refused():
    model = mechanisms.pair("Revolute", 3, ground=True).model()
    model.connect(ph.Resistor("J", D=0.3))
    with pytest.raises(ps.InputError, match="goes back in time"):
        ps.simulate(model, scheme="ph-mp-4", h=0.01, t_end=1)


def test_a_run_that_ends_early_holds_whole_steps_only():
    def load(t):
        if t > 0.52:
            raise ValueError("no load")
        return 1.0

    for engine in ("reference", "compiled"):
        model = mechanisms.pair("Revolute", 3, ground=True).model()
        model.add_port("motor", ps.JointPort("J", value=load))
        with pytest.raises(ps.SimulationError, match=r"step 6 from .* no load") as failure:
            ps.simulate(model, scheme="ph-mp-4", h=0.1, t_end=1, engine=engine)
        result = failure.value.result
        assert result.time == pytest.approx(np.arange(6) * 0.1, abs=1e-15)
        assert result.stats.steps == 5


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_progress_is_complete_when_the_run_is(engine, monkeypatch):
    module, bars = import_module("poinsot.run.loop"), []

    class Watched(module.Progress):
        def close(self):
            bars.append((self.done, self.steps))
            super().close()

    monkeypatch.setattr(module, "Progress", Watched)
    model = mechanisms.pair("Revolute", 3, ground=True).model()
    ps.simulate(model, scheme="ph-mp-4", h=0.1, t_end=0.5, engine=engine)
    assert bars == [(50, 50)]
