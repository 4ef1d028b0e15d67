"""Whatever function of the user's fails, the run says its name, where, and keeps what it has.

Python, Numba, and formulas as text, in both engines. See test_inputs.py for what is said besides,
and test_controllers.py for laws that are sampled.
"""

import numba
import numpy as np
import pytest

import poinsot as ps

ENGINES = ("compiled", "reference")
LATE = 0.05
RAISED = r"raised ValueError: too far, at "


def late(x, *rest):
    if x > LATE:
        raise ValueError("too far")
    return 0.0


def late_law(t, x, v):
    if t > LATE:
        raise ValueError("too far")
    return 0.0


def late_vector(t, *rest):
    return [late(t), 0.0, 0.0]


def late_rotation(t):
    return late(t) + np.eye(3)


def late_field(points, directions):
    return late(-points[0, 2])


def late_gradient(points, directions):
    return late(-points[0, 2]) + 0 * points, directions


def steady(points, directions):
    return 0.0


TEXT = "0*log(0.05 - t)"
OF_X = ps.Formula("log(0.05 - x)", "x")
NUMBA = numba.njit(late)
NUMBA_LAW = numba.njit(late_law)
OF_LAW = ps.Formula(TEXT, ("t", "x", "v"))
OF_VECTOR = ps.Formula([TEXT, "0", "0"])


def pendulum(rate=1.0):
    model = ps.Model(gravity=(0, 0, -9.81))
    start = {"angular_velocity": (0, rate, 0)} if rate else {}
    rod = model.add_body("rod", ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0), **start)
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    return model


def with_port(make, rate=1.0):
    """A pendulum with a port made of its rod."""
    model = pendulum(rate)
    model.add_port("motor", make(model.bodies["rod"]))
    return model


def with_force(make):
    """A pendulum with a force made of its rod."""
    model = pendulum()
    model.add_force("soft", make(model.bodies["rod"]))
    return model


def led(**motion):
    """A body alone that is led along."""
    model = ps.Model()
    body = model.add_body("body", ps.Sphere(mass=1, radius=0.1), position=(0, 0, 0))
    model.add_port("motor", ps.BodyDrive(body, **motion))
    return model


def controlled(law):
    model = with_port(lambda rod: ps.JointPort("hinge"))
    model.add_controller("pd", law, reads=["hinge.angle"], drives=["motor"])
    return model


def motor(**options):
    return with_port(lambda rod: ps.JointPort("hinge", **options))


def drive(**motion):
    return with_port(lambda rod: ps.Drive("hinge", **motion), rate=0.0)


def torsion(**law):
    return with_force(lambda rod: ps.JointSpring("hinge", **law))


def field(potential, gradient=None):
    return with_force(lambda rod: ps.Field(potential, points=[(rod, (1, 0, 0))], gradient=gradient))


NOT_FINITE = "force 'soft' is NaN or infinite at the end of the step"
MOTION = "port 'motor': a prescribed motion "
CASES = {
    "value": (lambda: motor(value=late), f"port 'motor': the input {RAISED}t = 0.055 s"),
    "value numba": (lambda: motor(value=NUMBA), f"port 'motor': the input {RAISED}t = 0.055 s"),
    "value formula": (
        lambda: motor(value=TEXT),
        r"port 'motor': the input at t = 0.055 s is \[nan\], not finite",
    ),
    "force": (
        lambda: with_port(lambda rod: ps.ForcePort(rod, value=late_vector)),
        f"port 'motor': the input {RAISED}t = 0.055 s",
    ),
    "force formula": (
        lambda: with_port(lambda rod: ps.ForcePort(rod, value=OF_VECTOR)),
        r"port 'motor': the input at t = 0.055 s is \[nan .*not finite",
    ),
    "joint law numba": (
        lambda: motor(law=NUMBA_LAW),
        f"port 'motor': its law {RAISED}t = 0.055 s with x",
    ),
    "joint law formula": (
        lambda: motor(law=OF_LAW),
        "port 'motor': its law gives nan at t = 0.055 s, expected 1 finite number",
    ),
    "spring numba": (lambda: torsion(force=NUMBA), f"force 'soft': force {RAISED}0.05"),
    "spring formula": (lambda: torsion(force=OF_X), NOT_FINITE),
    "energy": (lambda: torsion(potential=late), f"force 'soft': potential {RAISED}0.05"),
    "energy numba": (lambda: torsion(potential=NUMBA), f"force 'soft': potential {RAISED}0.05"),
    "energy formula": (lambda: torsion(potential=OF_X), NOT_FINITE),
    "field": (lambda: field(late_field), rf"force 'soft': potential {RAISED}\[0\.99"),
    "gradient": (
        lambda: field(steady, late_gradient),
        rf"force 'soft': gradient {RAISED}\[0\.99",
    ),
    "law in continuous time": (
        lambda: controlled(late),
        f"controller 'pd': its law {RAISED}t = 0.055 s with y",
    ),
    "coordinate": (lambda: drive(coordinate=late), f"{MOTION}{RAISED}t = 0.06 s"),
    "coordinate numba": (lambda: drive(coordinate=NUMBA), f"{MOTION}{RAISED}t = 0.06 s"),
    "rate": (lambda: drive(rate=late), f"port 'motor': .*{RAISED}t = 0.05"),
    "path": (lambda: led(position=late_vector), f"{MOTION}{RAISED}t = 0.06 s"),
    "path formula": (
        lambda: led(position=[TEXT, "0", "0"]),
        r"port 'motor': the input at t = 0.045 s is \[nan .*not finite",
    ),
    "turn": (
        lambda: led(rotation=late_rotation),
        f"port 'motor': a prescribed rotation {RAISED}t = 0.06 s",
    ),
    "angle formula": (
        lambda: led(axis=(0, 0, 1), angle=TEXT),
        "port 'motor': a prescribed rotation angle: nan contains NaN or infinity, at t = 0.05 s",
    ),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(("make", "message"), CASES.values(), ids=CASES)
def test_a_function_that_fails_is_named_and_nothing_is_lost(make, message, engine):
    with pytest.raises(ps.SimulationError, match=r"from t = 0\.\d+ s.*" + message) as failed:
        ps.simulate(make(), h=0.01, t_end=0.3, engine=engine)
    result = failed.value.result
    assert result.status == "failed"
    assert result.time[-1] > 0
    assert np.isfinite(result.energy).all()
