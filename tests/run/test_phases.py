"""Events that change the model: joints released, loads switched, with every balance exact."""

import numpy as np
import pytest
from hypothesis import given
from mechanisms import full, laws, tree
from strategies import seeds

import poinsot as ps
from poinsot.run import reference

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


def test_a_machine_so_slow_that_it_pauses_within_steps_finds_the_same(monkeypatch):
    """Blocks of one substep have no saved state, in which to look for angles of absent joints."""
    model = swing(ps.Event("pivot - pi/4", then=ps.Release("pivot")))
    options = {"h": 0.02, "t_end": 0.6, "scheme": "ph-mp-4", "engine": "reference"}
    usual = ps.simulate(model, **options)
    monkeypatch.setattr(reference, "PAUSE", 0.0)
    slow = ps.simulate(model, **options)
    np.testing.assert_array_equal(slow.position("bob"), usual.position("bob"))


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
        gained = result.energy - result.energy[0] - result.supplied + result.dissipated
        assert np.max(abs(gained - result.added)) < 1e-8 * scale  # at each saved time
        assert "added [J]" in result.to_pandas().columns or not np.any(result.added)
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
        (ps.Switch("spirng", on=False), "no load 'spirng' to switch; did you mean 'spring'"),
        (["record", 3], "choose from 'record', 'stop', Release"),
    ],
)
def test_changes_of_what_is_not_there_are_refused(then, told):
    with pytest.raises(ps.InputError, match=told):
        swing(ps.Event("t", then=then), spring={"stiffness": 1.0})


def test_a_joint_that_something_needs_is_not_released():
    model = swing(ps.Event("t - 1", then=ps.Release("pivot")))
    model.add_force("return", ps.JointSpring("pivot", stiffness=3))
    with pytest.raises(
        ps.InputError, match=r"remove 'pivot' from the model: force 'return'.*no joint 'pivot'"
    ):
        ps.simulate(model, h=0.1, t_end=1)
    model = swing(ps.Event("t - 1", then=ps.Release("pivot")))
    model.add_controller("hold", "-3*pivot", reads=["pivot"], drives=["pivot"], every=0.1)
    with pytest.raises(ps.InputError, match="controller 'hold' reads it"):
        ps.simulate(model, h=0.1, t_end=1)
    circuit = ps.ph.linear("circuit", states=["a", "b"], J=[[0, -1], [1, 0]], Q=np.eye(2))
    events = {"e": ps.Event("a", then=ps.Release("pivot"))}
    with pytest.raises(ps.InputError, match="need a Model"):
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


# -- locks -----------------------------------------------------------------------------------------


def pair(joint, **simulation):
    """Two bars that turn about each other in free flight, until their joint is locked."""
    model = ps.Model()
    shapes = [ps.Box(mass=m, size=(0.1, 0.2, 1)) for m in (1, 2)]
    a = model.add_body("a", shapes[0], position=(0, 0, 0.5), angular_velocity=(0.3, 2, 0.1))
    b = model.add_body("b", shapes[1], position=(0, 0, 1.5))
    kinds = {
        "revolute": ps.Revolute(a, b, point=(0, 0, 1), axis=(0, 1, 0)),
        "spherical": ps.Spherical(a, b, point=(0, 0, 1)),
        "rod": ps.Rod(a, b, point_a=(0, 0, 1), point_b=(0.2, 0, 1)),
        "planar": ps.Planar(a, b, point=(0, 0, 1), normal=(0, 1, 0)),
    }
    model.add_joint("j", kinds[joint])
    model.add_event("lock", ps.Event("t - 0.503", then=ps.Lock("j")))
    return ps.simulate(model, h=0.02, t_end=0.56, **simulation)


def rigid_energy(result, k):
    """The kinetic energy of both bars as one body with the momenta they have: no elastic part."""
    masses, r = np.array([1.0, 2.0]), [result.position(n)[k] for n in "ab"]
    centre = masses @ r / 3
    J = np.zeros((3, 3))
    for name, m, at in zip("ab", masses, r, strict=True):
        R, arm = result.rotation(name)[k], at - centre
        own = m / 12 * np.diag([0.2**2 + 1, 0.1**2 + 1, 0.1**2 + 0.2**2])
        J += R @ own @ R.T + m * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    p = result.linear_momentum[k]
    L = result.angular_momentum[k] - np.cross(centre, p)
    return p @ p / 6 + L @ np.linalg.solve(J, L) / 2


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl", "emh-mean", "ph-mp-4"])
def test_a_lock_keeps_momenta_and_loses_what_an_inelastic_impact_loses(scheme, engine):
    for joint in ("revolute", "spherical", "rod", "planar"):
        result = pair(joint, scheme=scheme, engine=engine)
        assert (result.status, result.engine) == ("done", engine)
        assert np.ptp(result.linear_momentum, axis=0).max() < 1e-13
        assert np.ptp(result.angular_momentum, axis=0).max() < 1e-13
        assert result.stats.balance_error_max < 1e-13
        assert not any("constraints are off" in note for note in result.notes)
        (k,) = result.events["lock"].index
        lost = result.events["lock"].energy[0]
        assert lost < -0.1
        assert result.energy[k] - result.energy[k - 1] == pytest.approx(lost, abs=1e-13)
        assert result.energy[k] == pytest.approx(rigid_energy(result, k), abs=1e-12)
        # Rigid from there on: the relative rotation and position stay.
        turned = np.einsum("tji,tjk->tik", result.rotation("a")[k:], result.rotation("b")[k:])
        np.testing.assert_allclose(turned, np.tile(turned[0], (len(turned), 1, 1)), atol=1e-12)
        assert result.constraint_error.max() < 1e-12
        forces = result.reaction("j").force
        assert np.isfinite(forces[:k]).all()
        assert np.isnan(forces[k:]).all()
        np.testing.assert_allclose(sum(result.observation.energies.values()), result.energy)


def test_files_do_not_know_the_reactions_of_a_locked_joint(tmp_path):
    streamed, kept = pair("revolute", output=tmp_path / "run.nc"), pair("revolute")
    for field in ("force", "torque", "force_a", "torque_a"):
        np.testing.assert_array_equal(
            getattr(streamed.reaction("j"), field), getattr(kept.reaction("j"), field)
        )
    assert np.isnan(kept["a.rigidity"][-1]).all()
    assert np.isfinite(kept["a.rigidity"][:25]).all()
    assert streamed.events["lock"].energy == kept.events["lock"].energy


def test_a_lock_beside_springs_over_turns_drives_and_circuits():
    """What stays goes on: a spring that is wound up, a motor with its circuit, and a drive."""
    model = ps.Model(gravity=(0, 0, -G))
    beam = model.add_body("beam", ps.Box(mass=2, size=(0.1, 0.1, 1)), position=(0, 0, -0.5))
    discs = [
        model.add_body(
            name,
            ps.Cylinder(mass=1, radius=0.2, length=0.1),
            position=(0, 0, -1.0 + 0.3 * k),
            angular_velocity=(0, 0, spin),
        )
        for k, (name, spin) in enumerate({"wound": 30.0, "driven": 2.0}.items())
    ]
    hinge = ps.Revolute(model.ground, beam, point=(0, 0, 0), axis=(1, 0, 0))
    model.add_joint("hinge", hinge)
    for disc in discs:
        axle = ps.Revolute(beam, disc, point=disc.position, axis=(0, 0, 1))
        model.add_joint(f"axle of {disc.name}", axle)
    model.add_force("winding", ps.JointSpring("axle of wound", stiffness=0.01))
    model.add_port("drive", ps.Drive("axle of driven", "2*t"))
    coil = ps.ph.linear(
        "coil", states=["flux"], J=[[0]], Q=[[3]], B=[[1]], ports=[ps.ph.Port("shaft")]
    )
    model.add_system("coil", coil)
    model.connect(ps.ph.Gyrator("coil.shaft", "axle of wound", C=0.3))
    model.add_event("push", ps.Event("t - 0.1", then=ps.Switch("winding", on=False)))
    model.add_event("back", ps.Event("t - 0.15", then=ps.Switch("winding", on=True)))
    model.add_event("lock", ps.Event("t - 0.4", then=ps.Lock("hinge")))
    model.add_force("side", ps.Spring(model.ground, beam, (0, 1, -1), (0, 0, -1), stiffness=40))
    results = [ps.simulate(model, h=0.01, t_end=0.7, engine=engine) for engine in ENGINES]
    for result in results:
        assert result.status == "done"
        (k,) = result.events["lock"].index
        assert result.joint("axle of wound").coordinates["angle"][k] > 2 * np.pi
        assert result.stats.balance_error_max < 1e-11
        assert np.max(abs(result.velocity("beam")[k:])) < 1e-11
        np.testing.assert_allclose(
            result.joint("axle of driven").coordinates["angle"], 2 * result.time, atol=1e-11
        )
        assert np.ptp(result["coil.flux"][k:]) > 1e-3
        np.testing.assert_allclose(sum(result.observation.energies.values()), result.energy)
    for name in ("wound", "driven"):
        a, b = (result.angular_velocity(name) for result in results)
        np.testing.assert_allclose(a, b, atol=1e-8)


@pytest.mark.parametrize("coordinates", ["directors", "quaternions", "rotations"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_joint_that_is_caught_at_an_angle_rests_there(coordinates, engine):
    model = swing(
        ps.Event("pivot - 0.3", then=ps.Lock("pivot")),
        ps.Event("0.3 - pivot"),
        ps.Event("pivot.rate + 0*t"),
    )
    result = ps.simulate(model, h=0.01, t_end=2, coordinates=coordinates, engine=engine)
    assert [event.time.size for event in result.events.values()] == [1, 1, 0]
    (k,) = result.events["e0"].index
    angle = result.joint("pivot").coordinates["angle"][k:]
    np.testing.assert_allclose(angle, 0.3, atol=1e-12)


@laws(9)
@given(seed=seeds)
def test_joints_that_are_released_and_locked_at_random_keep_every_balance(seed):
    random, plan = np.random.default_rng(seed), tree(seed, bodies=3, loops=int(seed % 2))
    model = plan.model()
    for k, joint in enumerate(random.permutation(list(model.joints))[:3]):
        change = ps.Lock(joint) if random.integers(2) else ps.Release(joint)
        model.add_event(f"e{k}", ps.Event(f"t - {random.uniform(0.02, 0.15)}", then=change))
    results = [ps.simulate(model, h=0.01, t_end=0.2, engine=engine) for engine in ENGINES]
    for result in results:
        scale = max(1, np.max(abs(result.energy)))
        assert result.status == "done"
        assert result.stats.balance_error_max < 1e-9 * scale
        assert result.constraint_error.max() < 1e-9
        assert all(event.time.size == 1 for event in result.events.values())
        for event in result.events.values():
            assert np.all(event.energy < 1e-9 * scale)
    for name in model.bodies:
        a, b = (result.position(name) for result in results)
        np.testing.assert_allclose(a, b, rtol=0, atol=1e-6)


def test_what_cannot_be_locked_is_refused():
    model = ps.Model()
    ball = model.add_body("ball", ps.PointMass(mass=1.0), position=(1, 0, 0))
    model.add_joint("j", ps.Rod(model.ground, ball, point_a=(0, 0, 0), point_b=(1, 0, 0)))
    model.add_event("e", ps.Event("t - 1", then=ps.Lock("j")))
    with pytest.raises(ps.InputError, match="joint 'j' cannot be locked: "):
        ps.simulate(model, h=0.1, t_end=2)
    with pytest.raises(ps.InputError, match="no joint 'k' to be locked"):
        model.add_event("f", ps.Event("t - 1", then=ps.Lock("k")))
