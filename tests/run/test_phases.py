"""Events that change the model: joints released, loads switched, with every balance exact."""

import numpy as np
import pytest
from hypothesis import given
from mechanisms import full, laws
from strategies import seeds

import poinsot as ps

ENGINES = ("reference", "compiled")
G = 9.81


def swing(*events, spring=None, **ends):
    """A bob of 2 kg on a rod of 1 m, which is let go level."""
    model = ps.Model(gravity=(0, 0, -G))
    bob = model.add_body("bob", ps.Sphere(mass=2, radius=0.1), position=(1, 0, 0))
    model.add_joint("pivot", ps.Revolute(model.ground, bob, point=(0, 0, 0), axis=(0, 1, 0)))
    if spring is not None:
        model.add_force(
            "spring",
            ps.Spring(model.ground, bob, point_a=(0, 0, 1), point_b=(1, 0, 0), **spring),
        )
    for k, event in enumerate(events):
        model.add_event(f"e{k}", event)
    return model


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl", "eml", "emh-mean", "ph-mp-4"])
def test_a_released_bob_flies_on_a_parabola(scheme, engine):
    model = swing(ps.Event("pivot - pi/4", then=ps.Release("pivot")))
    result = ps.simulate(model, h=0.01, t_end=0.8, scheme=scheme, engine=engine)
    assert (result.status, result.engine) == ("done", engine)
    (k,) = result.events["e0"].index
    t, r, v = result.time, result.position("bob"), result.velocity("bob")
    fall = 0.5 * np.array([0, 0, -G]) * (t[k:, None] - t[k]) ** 2
    np.testing.assert_allclose(r[k:], r[k] + v[k] * (t[k:, None] - t[k]) + fall, atol=1e-11)
    # Energy says how fast it leaves: v^2/2 (1 + 2/5 0.1^2) = g sin(pi/4).
    assert abs(np.linalg.norm(v[k]) ** 2 * (1 + 0.4 * 0.01) / 2 - G * np.sqrt(0.5)) < 1e-3
    assert result.stats.balance_error_max < 1e-12
    assert result.events["e0"].energy == [0]
    # It turns on as it did, and nothing holds it any more.
    spins = result.angular_velocity("bob")[k:]
    np.testing.assert_allclose(spins, np.tile(spins[0], (t.size - k, 1)), atol=1e-3)
    assert np.all(result.reaction("pivot").force[k:] == 0)
    assert np.all(np.linalg.norm(result.reaction("pivot").force[1:k], axis=1) > 0.05)
    assert result.constraint_error.max() < 1e-12


@pytest.mark.parametrize("engine", ENGINES)
def test_a_spring_takes_its_energy_with_it_and_brings_it_back(engine):
    off = ps.Event("pivot - 0.3", direction=1, then=ps.Switch("spring", on=False))
    on = ps.Event("pivot - 1", direction=1, then=ps.Switch("spring", on=True))
    model = swing(off, on, spring={"stiffness": 10.0, "rest_length": 0.5})
    result = ps.simulate(model, h=0.005, t_end=0.7, engine=engine)
    for name, sign in (("e0", -1), ("e1", 1)):
        (k,) = result.events[name].index
        length = np.linalg.norm(result.position("bob")[k] - (0, 0, 1))
        assert result.events[name].energy[0] == pytest.approx(sign * 5 * (length - 0.5) ** 2)
    (i,), (j,) = result.events["e0"].index, result.events["e1"].index
    energy = result.energy
    assert np.ptp(energy[:i]) < 1e-12
    assert np.ptp(energy[i:j]) < 1e-12
    assert np.ptp(energy[j:]) < 1e-12
    assert result.stats.balance_error_max < 1e-12
    kinds = result.observation.energies
    np.testing.assert_allclose(sum(kinds.values()), energy, atol=1e-12)
    assert np.all(kinds["springs and fields"][i:j] == 0)
    added = sum(event.energy.sum() for event in result.events.values())
    assert energy[-1] - energy[0] == pytest.approx(added, abs=1e-12)


def test_a_load_that_is_only_switched_on_is_off_at_the_start():
    on = ps.Event("pivot - 0.3", then=[ps.Switch("spring", on=True), "stop"])
    result = ps.simulate(swing(on, spring={"stiffness": 30.0}), h=0.005, t_end=0.7)
    assert result.energy[0] == 0
    assert result.events["e0"].what == "switch on spring, stop"
    assert result.energy[-1] == pytest.approx(result.events["e0"].energy[0])
    assert result.message.startswith("event 'e0' at t = ")


def test_a_joint_of_a_closed_loop_lets_go(tmp_path):
    """A four-bar whose loop opens is the chain that is left, from the same state on."""

    def bars(*events):
        model = ps.Model(gravity=(0, 0, -G))
        ends = [(0, 0, 0), (0, 0, 1), (2, 0, 2), (2.5, 0, 0)]
        before = model.ground
        for k in range(3):
            a, b = np.array(ends[k]), np.array(ends[k + 1])
            turn = ps.Rotation.from_axis_angle((0, 1, 0), np.arctan2(*(b - a)[[0, 2]]))
            size = (0.1, 0.1, np.linalg.norm(b - a))
            bar = model.add_body(
                f"bar{k}", ps.Box(mass=1, size=size), position=(a + b) / 2, rotation=turn
            )
            joint = ps.Revolute(before, bar, point=a, axis=(0, 1, 0))
            model.add_joint(f"j{k}", joint)
            before = bar
        last = ps.Revolute(before, model.ground, point=ends[3], axis=(0, 1, 0))
        if not events:
            return model
        model.add_joint("last", last)
        for k, event in enumerate(events):
            model.add_event(f"e{k}", event)
        return model

    # Turning in a plane, the loop has three constraints more than it needs.
    model = bars(ps.Event("t - 0.2", then=ps.Release("last")))
    given = {"h": 0.01, "scheme": "ph-mp-ggl"}
    results = [
        ps.simulate(model, output=tmp_path / f"{engine}.nc", **given, t_end=0.5, engine=engine)
        for engine in ENGINES
    ]
    for result in (*results, ps.load(tmp_path / "compiled.nc")):
        assert result.status == "done"
        assert result.stats.balance_error_max < 1e-11
        assert result.constraint_error.max() < 1e-11
        assert np.all(result.reaction("last").force[21:] == 0)
        assert np.any(result.reaction("last").force[:20] != 0)
        np.testing.assert_allclose(result.position("bar2"), results[0].position("bar2"), atol=1e-10)
    left = bars()
    opened = results[0]
    motion = [f"bar{k}.{letter}" for k in range(3) for letter in "qv"]
    x0 = {name: opened.states[name].values[20] for name in motion}
    after = ps.simulate(left, **given, t_end=0.3, x0=x0)
    np.testing.assert_allclose(after.position("bar2"), opened.position("bar2")[20:], atol=1e-9)


@laws(6)
@given(seed=seeds)
def test_loads_that_come_and_go_keep_every_balance(seed):
    """Random mechanisms with drives, controllers, springs, contacts; loads off and on at random."""
    random, plan = np.random.default_rng(seed), full(seed)
    model = plan.model()
    for k in range(4):
        load = random.choice(list(model.forces))
        on = bool(random.integers(2))
        when = f"t - {random.uniform(0.02, 0.18)}"
        model.add_event(f"e{k}", ps.Event(when, then=ps.Switch(load, on=on)))
    results = [ps.simulate(model, h=0.01, t_end=0.2, engine=engine) for engine in ENGINES]
    for result in results:
        assert result.status == "done"
        scale = max(1, np.max(abs(result.energy)))
        assert result.stats.balance_error_max < 1e-9 * scale
        added = np.sum([np.nansum(event.energies) for event in result.events.values()])
        rest = result.energy[-1] - result.energy[0] - result.supplied[-1] + result.dissipated[-1]
        assert rest == pytest.approx(added, abs=1e-8 * scale)
    for name in model.bodies:
        np.testing.assert_allclose(
            results[0].position(name), results[1].position(name), rtol=0, atol=1e-7
        )


def test_controllers_go_on_with_what_they_hold():
    calls = []

    def law(t, y, x):
        calls.append(t)
        return -5 * y[0] + x[0], x + 0.1

    model = swing(
        ps.Event("t - 0.033", then=ps.Switch("spring", on=False)), spring={"stiffness": 1e-12}
    )
    model.add_controller(
        "law", law, reads=["pivot"], drives=["pivot"], every=0.02, delay=0.02, states=[0.0]
    )
    plain = swing(spring={"stiffness": 1e-12})
    plain.add_controller(
        "law", law, reads=["pivot"], drives=["pivot"], every=0.02, delay=0.02, states=[0.0]
    )
    for engine in ENGINES:
        a, b = (ps.simulate(m, h=0.01, t_end=0.3, engine=engine) for m in (model, plain))
        np.testing.assert_allclose(
            a.port("pivot").u[np.array([0, 1, 2, 3, *range(5, 31)])], b.port("pivot").u, atol=1e-3
        )
        assert a.stats.balance_error_max < 1e-12


@pytest.mark.parametrize(
    ("then", "told"),
    [
        (ps.Release("pivto"), "no joint 'pivto' to be released; did you mean 'pivot'"),
        (ps.Switch("spirng", on=False), "no load 'spirng' to be switched; did you mean 'spring'"),
        (["record", 3], "choose from 'record', 'stop', Release"),
    ],
)
def test_changes_of_what_is_not_there_are_refused(then, told):
    with pytest.raises(ps.InputError, match=told):
        swing(ps.Event("t", then=then), spring={"stiffness": 1.0})


def test_a_joint_that_something_needs_is_not_released():
    model = swing(ps.Event("t - 1", then=ps.Release("pivot")))
    model.add_force("return", ps.JointSpring("pivot", stiffness=3))
    with pytest.raises(ps.InputError, match="without 'pivot': force 'return'.*no joint 'pivot'"):
        ps.simulate(model, h=0.1, t_end=1)
    model = swing(ps.Event("t - 1", then=ps.Release("pivot")))
    model.add_controller("hold", "-3*pivot", reads=["pivot"], drives=["pivot"], every=0.1)
    with pytest.raises(ps.InputError, match="controller 'hold' reads it"):
        ps.simulate(model, h=0.1, t_end=1)
    circuit = ps.ph.linear("circuit", states=["a", "b"], J=[[0, -1], [1, 0]], Q=np.eye(2))
    with pytest.raises(ps.InputError, match="joints and loads are those of a Model"):
        events = {"e": ps.Event("a", then=ps.Release("pivot"))}
        ps.simulate(circuit, x0=[1, 0], h=0.1, t_end=1, events=events)


def test_files_have_changes():
    model = swing(
        ps.Event("pivot - 1", then=ps.Release("pivot")),
        ps.Event("t - 1", then=["stop", ps.Switch("spring", on=True)]),
        spring={"stiffness": 1.0},
    )
    again = ps.Model.from_yaml_text(model.to_yaml())
    assert again.events == model.events
    whole = ps.Model()
    whole.add_system("arm", model)
    assert whole.events["arm.e0"].then == ps.Release("arm.pivot")
    assert whole.events["arm.e1"].then == ("stop", ps.Switch("arm.spring", on=True))
