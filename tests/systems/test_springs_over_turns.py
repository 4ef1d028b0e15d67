"""Springs and laws of joints over many turns: the angle that they see is counted."""

import numpy as np
import pytest
from engines import assert_same, both
from hypothesis import given
from in_turn import in_turn
from mechanisms import laws, place_joint, unit
from strategies import seeds

import poinsot as ps
from poinsot import ph

#: Every way to describe rotations, with every scheme that runs it.
WAYS = [
    ("directors", "ph-mp"),
    ("directors", "ph-mp-ggl"),
    *(
        ("quaternions", scheme)
        for scheme in ("eml", "reml", "null-eml", "emh", "eml-mean", "emh-mean", "mpl", "mph")
    ),
    ("rotations", "ph-mp"),
    ("rotations-quaternion", "ph-mp"),
    ("rotations-euler", "ph-mp"),
]
ways = pytest.mark.parametrize(("coordinates", "scheme"), WAYS)
#: Some of each kind, which the compiled engine runs.
FAST = [("directors", "ph-mp"), ("directors", "ph-mp-ggl"), ("quaternions", "emh-mean")]
FAST += [("quaternions", "eml"), ("rotations", "ph-mp"), ("rotations-euler", "ph-mp")]

#: Those whose states are starts: velocities suit the joints at the ends of steps.
GOING_ON = [("directors", "ph-mp-ggl"), ("quaternions", "emh-mean"), ("rotations", "ph-mp")]


def wheel(spin=0.0, port=None, **force):
    """A disc of 0.5 kg m^2 about its axis."""
    model = ps.Model()
    disc = model.add_body(
        "disc", ps.Cylinder(mass=1, radius=1, length=0.1), angular_velocity=(0, 0, spin)
    )
    model.add_joint("pin", ps.Revolute(model.ground, disc, point=(0, 0, 0), axis=(0, 0, 1)))
    if port is not None:
        model.add_port("servo", ps.JointPort("pin", law=port))
    if force:
        model.add_force("coil", ps.JointSpring("pin", **force))
    return model


def angle(result, joint="pin"):
    """The first angle of a joint."""
    coordinates = result.joint(joint).coordinates
    return next(values for name, values in coordinates.items() if name.startswith("angle"))


def in_both(model, scheme, **options):
    """The run in both engines, or in the reference engine twice where there is no other."""
    options |= {"scheme": scheme, "progress": False}
    if scheme.startswith("mp"):
        return (ps.simulate(model, engine="reference", **options),) * 2
    return both(model, **options)


# -- springs ---------------------------------------------------------------------------------------


@ways
def test_a_torsion_spring_keeps_the_energy_over_turns(coordinates, scheme):
    """Wound up by two and a half turns and back again, every third step saved."""
    model = wheel(spin=10.0, stiffness=0.2)
    one, other = in_both(model, scheme, coordinates=coordinates, h=0.125, t_end=4.0, save_every=3)
    for result in (one, other):
        assert angle(result).max() > 4.5 * np.pi
        assert angle(result)[-1] < angle(result).max() - 1
        if not scheme.startswith("mp"):
            parts = sum(result.observation.energies.values())
            np.testing.assert_allclose(parts, result.energy, rtol=1e-12)
            assert result.stats.balance_error_max < 1e-12 * result.energy[0]
    assert_same(one, other)


@pytest.mark.parametrize(("coordinates", "scheme"), FAST)
def test_a_wheel_on_a_torsion_spring_is_a_harmonic_oscillator_of_many_turns(coordinates, scheme):
    """Amplitude 31.6 rad, five turns, in a whole period and a quarter; of second order."""
    k, I, spin = 0.05, 0.5, 10.0
    omega = np.sqrt(k / I)
    t_end = 1.25 * 2 * np.pi / omega
    errors = []
    for steps in (500, 1000):
        result = ps.simulate(
            wheel(spin=spin, stiffness=k),
            scheme=scheme,
            coordinates=coordinates,
            h=t_end / steps,
            t_end=t_end,
        )
        exact = spin / omega * np.sin(omega * result.time)
        errors.append(abs(angle(result) - exact).max())
        assert result.stats.balance_error_max < 1e-12 * result.energy[0]
    assert angle(result)[-1] == pytest.approx(spin / omega, rel=1e-3)
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.02)


@pytest.mark.parametrize(("coordinates", "scheme"), FAST)
def test_a_rest_angle_may_be_turns_away(coordinates, scheme):
    """A turn and a half, reached from the start with much damping."""
    model = wheel(stiffness=8.0, damping=4.0, rest=3 * np.pi)
    result = ps.simulate(model, scheme=scheme, coordinates=coordinates, h=0.05, t_end=4.0)
    assert result.energy[0] == pytest.approx(4 * (3 * np.pi) ** 2, rel=1e-14)
    assert angle(result)[-1] == pytest.approx(3 * np.pi, abs=0.01)


def test_a_rest_angle_of_turns_survives_a_model_file(tmp_path):
    model, path = wheel(spin=1.0, stiffness=0.5, rest=-5 * np.pi), tmp_path / "wheel.yaml"
    model.to_yaml(path)
    one, other = (ps.simulate(m, h=0.02, t_end=5) for m in (model, ps.Model.from_yaml(path)))
    assert angle(one).min() < -8 * np.pi
    np.testing.assert_array_equal(angle(one), angle(other))


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize(
    "force",
    [
        {"potential": lambda a: 0.01 * a**4, "dpotential": lambda a: 0.04 * a**3},
        {"force": lambda a: 0.3 * a + np.sin(a)},
        {"potential": lambda a: np.cosh(a / 5)},
    ],
    ids=["potential", "force", "potential without derivatives"],
)
def test_any_law_of_an_angle_sees_it_counted(force, engine):
    result = ps.simulate(wheel(spin=12.0, **force), h=0.05, t_end=2.0, engine=engine)
    assert angle(result).max() > 2 * np.pi
    assert result.stats.balance_error_max < 1e-9 * result.energy.max()


def test_an_angle_of_half_a_turn_at_the_start_is_like_any_other():
    """There the angle in (-pi, pi] jumps, and with it any difference of energies."""
    model = wheel(stiffness=1.0)
    turned = np.concatenate(
        [np.zeros(3), ps.Rotation.from_axis_angle((0, 0, 1), np.pi).matrix.T.reshape(-1)]
    )
    for x0 in (turned, turned * [1, 1, 1, 1, -1, 1, -1, 1, 1, 1, 1, 1]):
        result = ps.simulate(model, h=0.01, t_end=1.0, x0={"disc.q": x0})
        assert result.stats.balance_error_max < 1e-13
        assert abs(angle(result)[0]) == pytest.approx(np.pi)


# -- laws ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("coordinates", "scheme"), [*FAST, ("quaternions", "mpl")])
def test_a_law_holds_an_angle_of_270_degrees(coordinates, scheme):
    def pd(t, chi, rate):
        return 8 * (1.5 * np.pi - chi) - 4 * rate

    one, other = in_both(wheel(port=pd), scheme, coordinates=coordinates, h=0.1, t_end=3.0)
    assert angle(one)[-1] == pytest.approx(1.5 * np.pi, abs=0.02)
    if not scheme.startswith("mp"):
        assert one.stats.balance_error_max < 1e-12 * one.port("servo").energy.max()
    assert_same(one, other)


@pytest.mark.parametrize("engine", ["reference", "compiled"])
@pytest.mark.parametrize(("coordinates", "scheme"), GOING_ON)
def test_a_law_comes_to_rest_after_many_turns(coordinates, scheme, engine):
    """There all forces vanish but for the round-off of the angle, which is that of its turns."""
    turns = 200 * np.pi
    model = wheel(spin=1e-11, port=lambda t, chi, rate: 8 * (turns - chi) - 4 * rate)
    options = {"scheme": scheme, "coordinates": coordinates, "h": 0.1, "engine": engine}
    result = ps.simulate(model, t_end=1.0, angles={"pin.angle": turns}, **options)
    assert result.stats.single_steps == 0
    assert abs(angle(result) - turns).max() < 1e-11
    assert result.status == "done"


@pytest.mark.parametrize("engine", ["reference", "compiled"])
def test_a_law_sees_the_angle_of_the_result(engine):
    seen = {}

    def law(t, chi, rate):
        seen[t] = chi
        return -0.1 * rate

    result = ps.simulate(wheel(spin=-30.0, port=law), h=0.02, t_end=1.0, engine=engine)
    middle = (angle(result)[1:] + angle(result)[:-1]) / 2
    assert middle.min() < -8 * np.pi
    found = [seen[t] for t in result.midpoint]
    np.testing.assert_allclose(found, middle, rtol=1e-9)


# -- mechanisms ------------------------------------------------------------------------------------


def chain(seed, bodies=None):
    """Bodies in a row, each driven by a spring that is wound up by some turns."""
    random = np.random.default_rng(seed)
    model = ps.Model(gravity=random.uniform(-1, 1, 3))
    last, where = model.ground, np.zeros(3)
    for k in range(bodies or random.integers(1, 4)):
        body = model.add_body(
            f"body{k}",
            ps.Box(mass=random.uniform(1, 3), size=random.uniform(0.6, 1.2, 3)),
            position=where + 0.2 * unit(random),
        )
        kind = str(random.choice(["Revolute", "Cylindrical", "Planar", "Universal"]))
        at = place_joint(kind, last, body, random, where)
        model.add_joint(f"joint{k}", getattr(ps, kind)(last, body, **at))
        free = {"joint": f"joint{k}", "freedom": "angle a" if kind == "Universal" else "angle"}
        rest = random.choice([-1, 1]) * random.uniform(10, 20)
        stiffness, damping = random.uniform(0.3, 1), random.uniform(0, 0.2)
        spring = ps.JointSpring(**free, stiffness=stiffness, rest=rest, damping=damping)
        model.add_force(f"coil{k}", spring)
        if k == 0:
            servo = ps.JointPort(**free, law=lambda t, a, rate: 7 - a / 4 - rate / 9)
            model.add_port("servo", servo)
        last, where = body, where + 0.4 * unit(random)
    return model


@laws(12)
@given(seed=seeds)
def test_the_balance_of_springs_over_turns_is_exact_in_any_formulation(seed):
    model = chain(seed)
    coordinates, scheme = WAYS[seed % len(WAYS)]
    if scheme.startswith("mp"):
        coordinates, scheme = "quaternions", "emh-mean"
    result = ps.simulate(
        model, scheme=scheme, coordinates=coordinates, h=0.004, t_end=1.0, save_every=7
    )
    scale = abs(result.energy).max() + abs(result.port("servo").energy).max()
    assert result.stats.balance_error_max < 1e-11 * scale
    parts = sum(result.observation.energies.values())
    np.testing.assert_allclose(parts, result.energy, atol=1e-11 * scale)


@laws(3)
@given(seed=seeds)
def test_both_engines_count_alike(seed):
    model = chain(seed)
    coordinates, scheme = FAST[seed % len(FAST)]
    options = {"scheme": scheme, "coordinates": coordinates, "h": 0.02, "t_end": 0.6}
    assert_same(*both(model, save_every=4, **options), rtol=1e-7)


def test_all_formulations_agree_to_second_order():
    def ends(h):
        for coordinates, scheme in FAST:
            run = ps.simulate(chain(3, 2), scheme=scheme, coordinates=coordinates, h=h, t_end=1.6)
            yield [angle(run, joint)[-1] for joint in ("joint0", "joint1")]

    coarse, fine = (np.array(list(ends(h))) for h in (8e-3, 4e-3))
    assert abs(fine).max() > 8 * np.pi
    apart, closer = (np.ptp(found, axis=0).max() for found in (coarse, fine))
    assert apart / closer == pytest.approx(4, rel=0.05)


def test_joined_systems_count_the_angles_of_their_parts():
    model = wheel(spin=10.0, stiffness=0.2)
    model.add_port("motor", ps.JointPort("pin"))
    joined = ph.interconnect(model.compile(), connections=ph.Resistor("motor", 0.01))
    alone = wheel(spin=10.0, stiffness=0.2, damping=0.01)
    one = ps.simulate(joined, scheme="ph-dg", h=0.1, t_end=4.0)
    other = ps.simulate(alone, h=0.1, t_end=4.0)
    assert angle(other).max() > 4.5 * np.pi
    assert one.stats.balance_error_max < 1e-11
    np.testing.assert_allclose(one.energy, other.energy, rtol=0.02)


# -- what cannot be followed -----------------------------------------------------------------------


def counter_rotating(spin, part):
    model = ps.Model()
    shape = ps.Cylinder(mass=1, radius=1, length=0.1)
    discs = [
        model.add_body(name, shape, angular_velocity=(0, 0, way * spin))
        for name, way in (("left", -1), ("right", 1))
    ]
    model.add_joint("pin", ps.Revolute(*discs, point=(0, 0, 0), axis=(0, 0, 1)))
    if part == "coil":
        model.add_force("coil", ps.JointSpring("pin", stiffness=1e-3))
    else:
        model.add_port("servo", ps.JointPort("pin", law=lambda t, chi, rate: -1e-3 * chi))
    return model


@pytest.mark.parametrize("part", ["coil", "servo"])
@pytest.mark.parametrize(
    ("coordinates", "scheme", "engine"),
    [(*way, engine) for way, engine in in_turn(FAST, ["reference", "compiled"])],
)
def test_a_step_of_more_than_half_a_turn_is_taken_in_smaller_ones(
    coordinates, scheme, part, engine
):
    """Each disc turns by a quarter of a turn and more, so that both turn by half against another.

    Cayley's turn of a midpoint step is 2 atan(h w/2); an energy-momentum step in quaternions turns
    by more.
    """
    options = {"scheme": scheme, "coordinates": coordinates, "engine": engine, "h": 0.01}
    near = 140.0 if scheme == "eml" else 180.0
    followed = ps.simulate(counter_rotating(near, part), t_end=0.1, **options)
    assert angle(followed)[-1] > 8 * np.pi
    fast, whole = 250.0 if scheme != "eml" else 180.0, ps.Newton(halvings=0)
    with pytest.raises(ps.SimulationError, match=f"'{part}': the angle of its joint changes by"):
        ps.simulate(counter_rotating(fast, part), t_end=0.1, newton=whole, **options)
    result = ps.simulate(counter_rotating(fast, part), t_end=0.1, **options)
    assert result.stats.split_steps == result.stats.steps == 10
    assert 0.6 < angle(result)[-1] / (2 * fast * 0.1) < 1.01


# -- files and restarts ----------------------------------------------------------------------------


@pytest.mark.parametrize(("coordinates", "scheme"), GOING_ON)
def test_what_is_streamed_and_loaded_has_the_turns(coordinates, scheme, tmp_path):
    options = {"scheme": scheme, "coordinates": coordinates, "h": 0.02, "t_end": 3.0}
    kept = ps.simulate(chain(5), save_every=4, **options)
    path = tmp_path / "run.nc"
    ps.simulate(chain(5), save_every=4, output=path, **options)
    with ps.load(path) as loaded:
        np.testing.assert_array_equal(angle(loaded, "joint0"), angle(kept, "joint0"))
        parts = sum(loaded.observation.energies.values())
        np.testing.assert_allclose(parts, kept.energy, rtol=1e-10)


@pytest.mark.parametrize(
    ("coordinates", "scheme", "engine"),
    [(*way, engine) for way, engine in in_turn(GOING_ON, ["reference", "compiled"])],
)
def test_a_run_goes_on_with_the_turns_of_another(coordinates, scheme, engine):
    model = wheel(spin=10.0, stiffness=0.2)
    options = {"scheme": scheme, "coordinates": coordinates, "h": 0.1, "engine": engine}
    whole = ps.simulate(model, t_end=3.0, **options)
    first = ps.simulate(model, t_end=1.5, **options)
    x0 = {
        name: first[name][-1]
        for name in first.states
        if name[-2:] in (".q", ".v", ".p", ".w") or name.endswith(".zeta")
    }
    counted = {"pin.angle": angle(first)[-1]}
    rest = ps.simulate(model, t_start=1.5, t_end=3.0, x0=x0, angles=counted, **options)
    assert angle(rest)[0] == angle(first)[-1] > 2 * np.pi
    np.testing.assert_allclose(angle(rest), angle(whole)[15:], rtol=1e-9)
    assert rest.energy[-1] == pytest.approx(whole.energy[0], rel=1e-12)


def test_angles_that_do_not_fit_the_state_are_refused():
    with pytest.raises(ps.InputError, match=r"no angle 'pin.angel'; did you mean 'pin.angle'"):
        ps.simulate(wheel(), h=0.01, t_end=0.1, angles={"pin.angel": 0.0})
    with pytest.raises(
        ps.InputError, match=r"'pin.angle' is 3 rad, while it is 0 rad in the state"
    ):
        ps.simulate(wheel(), h=0.01, t_end=0.1, angles={"pin.angle": 3.0})
