"""Bodies that are led along paths: they are where they should be, at the cost that it takes."""

import numpy as np
import pytest
from balance import step_errors, turnover
from same import assert_same
from schemes import DRIVEN as FORMS
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot.so3 import exp

ENGINES = ("compiled", "reference")
INERTIA = np.array([[1, 0.1, 0], [0.1, 2, 0.3], [0, 0.3, 1.5]])
MASS, GRAVITY = 2.0, np.array([0, 0, -9.81])
PATH, POINT = ["cos(t) + 0.3", "sin(2*t)", "t**2"], (1.3, 0, 0)


def place(t):
    return np.array([np.cos(t) + 0.3, np.sin(2 * t), t**2])


def turned(t):
    """Several turns about axes that change."""
    return exp((np.sin(2 * t), 3 * t, t * t))


def led(loaded=True, inertia=INERTIA, start=(1, 0, 0), **path):
    """Return a body on a path, with a rod on it that swings as it likes."""
    model = ps.Model(gravity=GRAVITY)
    plate = model.add_body("plate", ps.RigidBody(mass=MASS, inertia=inertia), position=start)
    if loaded:
        rod = model.add_body("rod", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(1.5, 0, 0))
        model.add_joint("hinge", ps.Revolute(plate, rod, point=(1, 0, 0), axis=(0, 1, 0)))
    model.add_port("path", ps.BodyDrive(plate, **path))
    return model


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("coordinates", "scheme"), FORMS)
def test_a_body_is_where_its_path_is_and_the_work_is_in_the_balance(coordinates, scheme, engine):
    model = led(position=PATH, rotation=turned, point=POINT)
    options = {"coordinates": coordinates, "scheme": scheme, "engine": engine}
    result = ps.simulate(model, h=0.01, t_end=0.4, **options)
    assert result.engine == engine
    assert result.stats.single_steps == 0
    expected = np.array([turned(t) for t in result.time])
    assert abs(result.rotation("plate") - expected).max() < 1e-14
    at = result.position("plate") + result.rotation("plate") @ (0.3, 0, 0)
    assert abs(at - np.array([place(t) for t in result.time])).max() < 1e-14
    assert abs(result.balance_error).max() < 1e-13 * turnover(result)
    assert abs(step_errors(result)).max() < 1e-13 * turnover(result)


def test_both_engines_agree_and_nothing_drifts():
    model = led(position=PATH, rotation=turned, point=POINT)
    one, other = (ps.simulate(model, h=0.01, t_end=0.5, engine=engine) for engine in ENGINES)
    assert abs(one.position("rod") - other.position("rod")).max() < 1e-11
    assert abs(one.port("path").y - other.port("path").y).max() < 1e-9
    long = ps.simulate(model, h=1e-3, t_end=10, save_every=100)
    expected = np.array([turned(t) for t in long.time])
    assert abs(long.rotation("plate") - expected).max() < 2e-14
    assert abs(long.balance_error).max() < 1e-13 * turnover(long)


def test_the_wrench_is_that_of_newton_and_euler_to_second_order():
    def slope(f, t, d=1e-3):
        return (8 * (f(t + d) - f(t - d)) - (f(t + 2 * d) - f(t - 2 * d))) / (12 * d)

    def centre(t):
        return place(t) - turned(t) @ (0.3, 0, 0)

    def spin(t):
        S = slope(turned, t) @ turned(t).T
        return np.array([S[2, 1], S[0, 2], S[1, 0]])

    def momentum(t):
        return turned(t) @ INERTIA @ turned(t).T @ spin(t)

    errors = []
    for h in (0.02, 0.01):
        model = led(loaded=False, position=PATH, rotation=turned, point=POINT)
        result = ps.simulate(model, h=h, t_end=0.4)
        port, error = result.port("path"), 0.0
        for y, pair in zip((port.y[1:] + port.y[:-1]) / 2, result.time[1:-1], strict=True):
            force = MASS * (slope(lambda t: slope(centre, t), pair) - GRAVITY)
            arm = place(pair) - centre(pair)
            torque = slope(momentum, pair) - np.cross(arm, force)
            error = max(error, abs(y - [*force, *torque]).max())
        errors.append(error)
    assert errors[1] < 0.02
    assert errors[0] / errors[1] > 3.5


def test_a_pivot_that_is_led_swings_its_pendulum_as_newton_says():
    model = ps.Model(gravity=(0, 0, -9.81))
    rod = model.add_body("rod", ps.Box(mass=1, size=(0.1, 0.1, 1)), position=(0, 0, -0.5))
    model.add_port("pivot", ps.BodyDrive(rod, position=["0.1*sin(5*t)", "0", "0"], point=(0, 0, 0)))
    inertia = (1 + 0.01) / 12 + 0.25

    def swing(t, x):
        angle, rate = x
        accelerated = -2.5 * np.sin(5 * t)
        moment = 0.5 * (-9.81 * np.sin(angle) - accelerated * np.cos(angle))
        return rate, moment / inertia

    result = ps.simulate(model, h=1e-3, t_end=2)
    # The rod turns at once, as its pivot begins at 0.5 m/s.
    _, omega = model.start_velocities()["rod"]
    exact = solve_ivp(swing, (0, 2), (0, -omega[1]), rtol=1e-10, atol=1e-10)
    angle = exact.y[0, -1]
    centre = 0.1 * np.sin(10) + 0.5 * np.sin(angle), -0.5 * np.cos(angle)
    assert abs(result.position("rod")[-1, [0, 2]] - centre).max() < 2e-6


def test_turns_about_an_axis_by_euler_angles_and_by_tables():
    h = {"h": 0.05, "t_end": 1.0}
    about = ps.simulate(led(axis=(0, 0, 2), angle="7*t"), **h)
    np.testing.assert_allclose(
        about.rotation("plate")[-1], exp((0, 0, 7)), atol=1e-14, err_msg="over a turn"
    )
    table = ps.Table([0.0, 1.0], [0.0, 7.0])
    np.testing.assert_allclose(
        ps.simulate(led(axis=(0, 0, 1), angle=table), **h).rotation("plate"),
        about.rotation("plate"),
        atol=1e-14,
    )
    euler = ps.simulate(led(sequence="ZXZ", angles=["3*t", "t", "t**2"]), **h)
    expected = ps.Rotation.from_euler("ZXZ", (3.0, 1.0, 1.0)).matrix
    np.testing.assert_allclose(euler.rotation("plate")[-1], expected, atol=1e-14)
    still = ps.simulate(led(position=(1, 0, 0), rotation=np.eye(3)), **h)
    assert abs(still.rotation("plate") - np.eye(3)).max() < 1e-15
    path = ps.Table([0.0, 1.0], [[1, 0, 0], [1, 2, 3]])
    model = led(position=path, loaded=False)
    assert abs(ps.simulate(model, **h).position("plate")[-1] - (1, 2, 3)).max() < 1e-14


def test_point_masses_and_ends_of_beams_are_led():
    model = ps.Model(gravity=(0, 0, -9.81))
    dot = model.add_body("dot", ps.PointMass(mass=1))
    section = ps.CircularSection(radius=0.01)
    beam = model.add_body(
        "beam",
        ps.Beam(
            length=1,
            section=section,
            youngs_modulus=2e9,
            shear_modulus=8e8,
            density=1e3,
            elements=2,
        ),
        position=(2, 0, 0),
    )
    model.add_port("lift", ps.BodyDrive(dot, position=["0", "0", "t"]))
    drive = ps.BodyDrive(beam.start, position=["1.5", "0", "0.1*t"], axis=(1, 0, 0), angle="t")
    model.add_port("spindle", drive)
    result = ps.simulate(model, h=2e-3, t_end=0.05, engine="compiled")
    assert abs(result.position("dot")[-1] - (0, 0, 0.05)).max() < 1e-15
    assert abs(result.position("beam.start")[-1] - (1.5, 0, 0.005)).max() < 1e-13
    assert abs(result.rotation("beam.start")[-1] - exp((0.05, 0, 0))).max() < 1e-13
    assert abs(result.balance_error).max() < 1e-12 * turnover(result)


def test_a_start_beside_the_path_is_refused_with_what_it_takes():
    refused = ps.InconsistentStartError
    with pytest.raises(refused, match=r"its path x is -1 m ahead of the body; change the motion"):
        ps.simulate(led(position=["0", "0", "0"]), h=0.01, t_end=0.1)
    with pytest.raises(refused, match=r"its turn z is 0.1 rad ahead of the body"):
        ps.simulate(led(rotation=exp((0, 0, 0.1))), h=0.01, t_end=0.1)
    model = led(position=["1 + t", "0", "0"], loaded=False)
    object.__setattr__(model.bodies["plate"], "velocity", np.zeros(3))
    with pytest.raises(refused, match=r"give body 'plate' velocity \(1, 0, 0\)"):
        ps.simulate(model, h=0.01, t_end=0.1)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ({}, "BodyDrive: give the position over time, a rotation, or both"),
        (
            {"rotation": turned, "axis": (0, 0, 1), "angle": "t"},
            "rotation and angle exclude each other",
        ),
        ({"axis": (0, 0, 1), "position": "t"}, "BodyDrive: axis and angle must be given together"),
        ({"position": ["t", "t"]}, r"BodyDrive: position: expected 3 number\(s\) at each time"),
        ({"position": ["t", "t", "x"]}, "BodyDrive: position: formula 'x': unknown name 'x'"),
        ({"axis": (0, 0, 0), "angle": "t"}, "BodyDrive: axis"),
        ({"sequence": "ZZX", "angles": ["t", "t", "t"]}, "Euler angles: 'ZZX'"),
        ({"axis": (0, 0, 1), "angle": "500*t"}, "half a turn or more in the step from t = 0 s"),
        (
            {"rotation": lambda t: np.eye(3) * (1 if t < 0.05 else 2)},
            r"port 'path': a prescribed rotation is none: .* at t = 0.05 s",
        ),
        (
            {"position": lambda t: (1, 0, 0)[: 3 if t < 0.05 else 2]},
            r"port 'path': a prescribed motion gives no place: .*, at t = 0.05 s",
        ),
    ],
)
def test_what_is_no_path_is_refused_by_name(path, message):
    with pytest.raises(ps.PoinsotError, match=message):
        ps.simulate(led(**path), h=0.01, t_end=0.1, newton=ps.Newton(halvings=0))


def test_a_body_that_cannot_move_or_is_led_twice_is_refused():
    model = led(position=(1, 0, 0))
    model.add_port("again", ps.BodyDrive(model.bodies["plate"], position=(1, 0, 0)))
    with pytest.raises(ps.InputError, match=r"drives prescribe motions that .* 'again'; leave"):
        model.compile()
    with pytest.raises(ps.InputError, match="'path' is a drive with a prescribed motion"):
        ps.simulate(led(position=(1, 0, 0)), h=0.01, t_end=0.1, inputs={"path": 1.0})
    with pytest.raises(ps.InputError, match="'path' drives a whole body"):
        led(rotation=turned).inverse_dynamics({"hinge": "t"}, times=0.0)
    with pytest.raises(ps.InputError, match="has no orientation"):
        ps.BodyDrive(ps.Model().add_body("a", ps.PointMass(mass=1)), axis=(0, 0, 1), angle="t")


def test_paths_go_to_files_and_into_sub_assemblies():
    model = led(position=PATH, axis=(0, 1, 0), angle="sin(t)", point=POINT)
    again = ps.Model.from_yaml_text(model.to_yaml())
    assert again.to_yaml() == model.to_yaml()
    one, other = (ps.simulate(m, h=0.02, t_end=0.2) for m in (model, again))
    assert_same(one, other)
    R, shift = exp((1, 2, 3)), np.array([3, 2, 1])
    paths = (
        {"position": PATH, "axis": (0, 1, 0), "angle": "sin(t)", "point": POINT},
        {"position": place, "rotation": turned, "point": POINT},
        {"position": (1, 0, 0), "sequence": "ZYX", "angles": ["t", "0", "t"]},
        {"position": ps.Table([0, 1], [[1, 0, 0], [1, 1, 1]]), "rotation": np.eye(3)},
    )
    for path in paths:
        outer, inner = ps.Model(gravity=R @ GRAVITY), led(**path)
        outer.add_system("sub", inner, position=shift, rotation=R)
        alone, placed = (ps.simulate(m, h=0.02, t_end=0.2) for m in (inner, outer))
        for body in ("plate", "rod"):
            expected = alone.position(body) @ R.T + shift
            assert abs(placed.position(f"sub.{body}") - expected).max() < 1e-9
            expected = R @ alone.rotation(body)
            assert abs(placed.rotation(f"sub.{body}") - expected).max() < 1e-9


def test_a_body_that_is_held_by_its_path_rests():
    rest = led(position=(1, 0, 0), rotation=np.eye(3)).equilibrium()
    assert abs(rest.position("rod") - (1, 0, -0.5)).max() < 1e-8
