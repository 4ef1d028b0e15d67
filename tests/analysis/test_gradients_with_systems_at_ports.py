"""Gradients of mechanisms with systems and controllers at their ports, in machine code."""

import numpy as np
import pytest
import sympy
from hypothesis import given
from mechanisms import laws
from scipy.signal import StateSpace
from strategies import seeds

import poinsot as ps
from poinsot import ph
from poinsot.analysis import Final, Integral

H, STEPS = 0.02, 4
#: Of a change, weights of runs for a derivative of fourth order.
WEIGHTS = {1: 2 / 3, -1: -2 / 3, 2: -1 / 12, -2: 1 / 12}
CONVERGED = ps.Newton(rtol=1e-13)
#: Ports of every kind on the mechanism below, and how many numbers they have.
PORTS = {"hinge": 1, "slide": 1, "force": 3, "body force": 3, "torque": 3, "body torque": 3}


def mechanism(mass=1.0, shift=0.3, seed=0):
    """Three bodies, on a ball joint, a rail and a hinge in any directions, with all ports."""
    random = np.random.default_rng(seed)
    model, at = ps.Model(gravity=(0.5, 0.3, -9.81)), np.zeros(3)
    before, bodies = model.ground, []
    for k in range(3):
        way, axis = random.standard_normal((2, 3))
        shape = ps.Box(mass=mass * (1 + 0.3 * k), size=(0.6, 0.3, 0.2))
        bodies.append(model.add_body(f"b{k}", shape, position=at + 0.4 * way))
        joint = (
            ps.Spherical(before, bodies[k], point=at),
            ps.Prismatic(before, bodies[k], point=at, axis=axis),
            ps.Revolute(before, bodies[k], point=at + 0.1 * shift, axis=axis),
        )[k]
        model.add_joint(("ball", "slide", "hinge")[k], joint)
        before, at = bodies[k], at + way
    model.add_port("force", ps.ForcePort(bodies[2], point=at))
    model.add_port("body force", ps.ForcePort(bodies[1], point=at + 0.1, axes="body"))
    model.add_port("torque", ps.TorquePort(bodies[0]))
    model.add_port("body torque", ps.TorquePort(bodies[2], axes="body"))
    return model


def network(values, kinds, seed, rigid=False, lossy=True):
    """The mechanism with a random linear system at some of its ports, one port left open."""
    random, n = np.random.default_rng(seed), 3
    model = mechanism(values["mass"], values["shift"], seed)
    widths = [PORTS[kind] for kind in kinds]
    A, D, Q = random.standard_normal((3, n, n))
    system = ph.linear(
        "s",
        states=[ph.State("x", n)],
        J=values["J"] * (A - A.T),
        R=values["R"] * D @ D.T * lossy,
        Q=Q @ Q.T + values["Q"] * np.eye(n),
        B=values["B"] * random.standard_normal((n, sum(widths) + 1)),
        ports=[*(ph.Port(f"p{k}", m) for k, m in enumerate(widths)), ph.Port("free")],
    )
    model.add_system("s", system)
    for k, kind in enumerate(kinds):
        link = ph.Transformer if rigid and k == 0 else ph.Gyrator
        model.connect(link(kind, f"s.p{k}", C=values["C"]))
    return model


NUMBERS = {"mass": 1.0, "shift": 0.3, "J": 1.0, "R": 0.5, "Q": 1.0, "B": 1.0, "C": 0.7}
LOSS = Final("b2.position.x*b1.rotation.xy + s.x_2**2 + s.x_0") + 0.5 * Integral(
    "b2.angular_velocity.z**2 + s.x_1*b1.velocity.x"
)


def slope_of_runs(built, of, values, ways, **how):
    """The derivative of converged runs by values along a direction."""

    def value(step):
        other = {name: x + step * ways[name] for name, x in values.items()}
        model, none = built(other), {"none": 1.0}
        return ps.gradient(lambda _: model, of, none, newton=CONVERGED, **how).value

    return sum(weight * value(2e-3 * k) for k, weight in WEIGHTS.items()) / 2e-3


def require_slope(found, built, of, values, seed=0, **how):
    """Compare a gradient with converged runs along a random direction."""
    random = np.random.default_rng(seed)
    ways = {name: x * random.uniform(-1, 1) for name, x in values.items()}
    slope = slope_of_runs(built, of, values, ways, **how)
    along = sum(found[name] * way for name, way in ways.items())
    assert abs(along - slope) < 1e-8 * max(1.0, np.max(abs(found.flat)))


@laws(4)
@given(seeds)
def test_gradients_with_random_linear_networks_are_those_of_converged_runs(seed):
    random = np.random.default_rng(seed)
    kinds = list(random.permutation(list(PORTS))[: 1 + seed % 3])
    rigid, scheme = bool(seed % 2), ("ph-mp", "ph-mp-ggl")[seed // 2 % 2]
    times = np.linspace(0, H * STEPS, 3)
    how = {
        "h": H,
        "t_end": H * (STEPS - 0.3),
        "scheme": scheme,
        "engine": "compiled",
        "inputs": {"s.free": ps.Table(times, random.standard_normal(3))},
        "x0": {"s.x": np.zeros(3) if rigid else [0.3, -0.2, 0.1]},
    }

    def built(values):
        return network(values, kinds, seed, rigid)

    found = ps.gradient(built, LOSS, NUMBERS, **how)
    require_slope(found, built, LOSS, NUMBERS, seed, **how)
    paths = ["inputs.s.free", "gravity", "joints.hinge.point"]
    one, other = (
        ps.gradient(built(NUMBERS), LOSS, paths, **how | {"engine": engine, "scheme": "ph-mp"})
        for engine in ("compiled", "reference")
    )
    assert one.engine == "compiled"
    size = max(1.0, np.max(abs(other.flat)))
    np.testing.assert_allclose(one.flat, other.flat, rtol=0, atol=1e-9 * size)


def test_substeps_of_other_sizes_have_other_matrices():
    how = {"h": H, "t_end": H * 4, "scheme": "ph-mp-4", "engine": "compiled"}
    how |= {"x0": {"s.x": [0.3, -0.2, 0.1]}}
    numbers = {name: x for name, x in NUMBERS.items() if name != "R"}

    def built(values):
        return network({**values, "R": 0.0}, ["hinge", "force"], 5, lossy=False)

    found = ps.gradient(built, LOSS, numbers, **how)
    require_slope(found, built, LOSS, numbers, **how)


def drum(values):
    """A load on a drum, which a motor with its circuit winds up."""
    model = ps.Model(gravity=(0, 0, -9.81))
    shape = ps.Cylinder(mass=values["mass"], radius=0.2, length=0.1)
    wheel = model.add_body(
        "drum", shape, rotation=ps.Rotation.from_axis_angle((1, 0, 0), np.pi / 2)
    )
    load = ps.Box(mass=1.0, size=(0.1, 0.1, 0.3))
    load = model.add_body("load", load, position=(0.2, 0, -values["below"]))
    model.add_joint("shaft", ps.Revolute(model.ground, wheel, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("pin", ps.Revolute(wheel, load, point=(0.2, 0, 0), axis=(0, 1, 0)))
    coil = ph.linear(
        "coil",
        states=[ph.State("flux", unit="Wb")],
        J=[[0.0]],
        R=[[values["R"]]],
        Q=[[1 / values["L"]]],
        B=[[1.0, 1.0]],
        ports=[ph.Port("supply", 1, "V", "A"), ph.Port("shaft", 1, "V", "A")],
    )
    model.add_system("coil", coil)
    model.connect(ph.Gyrator("shaft", "coil.shaft", C=values["K"], unit="N m/A"))
    return model


DRUM = {"mass": 2.0, "below": 0.4, "R": 1.2, "L": 2e-3, "K": 0.5}
VOLTAGE = {"coil.supply": ps.Table([0, 0.05, 0.1], [0.0, 24.0, 5.0])}


def test_numbers_of_a_circuit_are_parameters_by_their_paths_too():
    of = Final("shaft + 100*coil.flux") + Integral("pin.rate**2")
    how = {"h": 0.005, "t_end": 0.1, "inputs": VOLTAGE, "engine": "compiled"}
    found = ps.gradient(drum, of, DRUM, **how)
    require_slope(found, drum, of, DRUM, **how)
    path = "systems.coil.linear.R"
    by_path = ps.gradient(drum(DRUM), of, [path, "inputs.coil.supply"], **how)
    assert by_path[path].item() == pytest.approx(float(found["R"]), rel=1e-9)
    assert abs(by_path["inputs.coil.supply"]).min() > 0


def test_segments_of_a_long_run_with_a_circuit_are_taken_again(monkeypatch):
    monkeypatch.setattr("poinsot.analysis.gradients.compiled.TOGETHER", 7)
    of, how = Final("shaft + coil.flux"), {"h": 0.005, "t_end": 0.3, "inputs": VOLTAGE}
    whole, least = (
        ps.gradient(drum(DRUM), of, ["bodies.drum.mass"], engine="compiled", **options, **how)
        for options in ({}, {"memory": 1e3})
    )
    assert least.value == whole.value
    np.testing.assert_allclose(least.flat, whole.flat, rtol=1e-12)


def with_expressions(values):
    """The mechanism with a system whose energy, J, R and B bend, one of its ports left open."""
    model, (a, b, c) = mechanism(seed=3), sympy.symbols("a b c")
    bent = a**2 / 2 + b**2 / 3 + c**2 + a**4 + sympy.cos(b)
    system = ph.symbolic(
        "s",
        states={"x": [a, b, c]},
        H=values["H"] * bent,
        J=[[0, -c, b], [c, 0, -a], [-b, a, 0]],
        R=sympy.diag(values["R"], 0.1 + a**2, 0),
        B=[[1 + a**2, 0, 0, 1, 0.3], [0, sympy.exp(-(b**2)), 0, 0.5, 0], [0, 0, 1, c, 1]],
        ports=[ph.Port("end", 3, "m/s", "N"), ph.Port("p"), ph.Port("free")],
    )
    model.add_system("s", system)
    model.connect(ph.Gyrator("force", "s.end", C=values["C"]))
    model.connect(ph.Gyrator("hinge", "s.p"))
    return model


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
def test_gradients_with_systems_of_expressions_are_those_of_converged_runs(scheme):
    values = {"H": 1.0, "R": 0.3, "C": 1.3}
    samples = np.array([0.4, -1.0, 0.7])
    inputs = {"s.free": ps.Table([0, 0.05, 0.1], samples)}
    how = {"h": H, "t_end": H * STEPS, "scheme": scheme, "engine": "compiled"}
    how |= {"x0": {"s.x": [0.3, -0.2, 0.1]}}
    every = {**values, "inputs.s.free": samples}
    found = ps.gradient(with_expressions, LOSS, every, inputs=inputs, **how)
    assert found.engine == "compiled"
    require_slope(found, with_expressions, LOSS, values, inputs=inputs, **how)

    def value(step):
        table = {"s.free": ps.Table([0, 0.05, 0.1], samples + step * np.array([0.0, 1.0, 0.0]))}
        given = {"H": values["H"]}
        model = lambda own: with_expressions({**values, **own})  # noqa: E731
        return ps.gradient(model, LOSS, given, inputs=table, newton=CONVERGED, **how).value

    slope = sum(weight * value(1e-2 * k) for k, weight in WEIGHTS.items()) / 1e-2
    assert found["inputs.s.free"][1] == pytest.approx(slope, rel=1e-8, abs=1e-10)


CONTROLLERS = {
    "rate": lambda k: (f"-{k}*rail_rate", ["rail.rate"], "motor"),
    "coordinates": lambda k: (
        f"-{k}*rail - 0.4*pin_rate + sin(pin)",
        ["rail", "pin", "pin.rate"],
        "motor",
    ),
    "state space": lambda k: (
        StateSpace([[-2.0, 0.3], [0, -k]], [[1.0, 0.2], [0.3, 1]], [[-k, 0.4]], [[-1.0, 0.3]]),
        ["rail", "pin"],
        "motor",
    ),
    "rotation": lambda k: (
        [f"-{k}*pole_rotation_xx - pole_position_x", "pole_velocity_y", f"-{k}*pole_rotation_zx"],
        ["pole.rotation", "pole.position", "pole.velocity"],
        "wind",
    ),
}


@pytest.mark.parametrize(
    ("kind", "scheme"), [*((kind, "ph-mp") for kind in CONTROLLERS), ("coordinates", "ph-mp-ggl")]
)
def test_controllers_in_continuous_time_have_the_derivatives_of_converged_runs(kind, scheme):
    def built(values):
        law, reads, drives = CONTROLLERS[kind](values["gain"])
        model = ps.Model(gravity=(0, 0, -9.81))
        box = ps.Box(mass=values["mass"], size=(0.3, 0.2, 0.1))
        cart = model.add_body("cart", box, velocity=(0.3, 0, 0))
        pole = ps.Box(mass=0.2, size=(0.02, 0.02, 1.0))
        pole = model.add_body("pole", pole, position=(0, 0, -0.5), angular_velocity=(0, 2, 0))
        rail = ps.Prismatic(model.ground, cart, point=(0, 0, 0), axis=(1, 0.1, 0))
        model.add_joint("rail", rail)
        hinge = ps.Revolute(cart, pole, point=(0, 0, -values["pin"]), axis=(0, 1, 0))
        model.add_joint("pin", hinge)
        model.add_port("motor", ps.JointPort("rail"))
        model.add_port("wind", ps.ForcePort(pole, point=(0, 0, -1)))
        model.add_controller("c", law, reads=reads, drives=drives)
        model.project_velocities()
        return model

    of, values = Final("rail + pin**2"), {"mass": 1.0, "pin": 0.05, "gain": 3.0}
    how = {"h": H, "t_end": H * STEPS, "scheme": scheme}
    found, expected = (
        ps.gradient(built, of, values, engine=engine, **how) for engine in ("compiled", "reference")
    )
    require_slope(found, built, of, values, engine="compiled", **how)
    np.testing.assert_allclose(found.flat, expected.flat, rtol=0, atol=1e-8)
