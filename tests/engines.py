"""Both engines on one model, and how far apart they are: by round-off, and no more."""

import numpy as np

import poinsot as ps

RTOL = 1e-9
#: What is left of a number that vanishes, on mechanisms of about a metre, a kilogram and a second.
ROUND_OFF = 1e-12


def both(model, **options):
    """Run with the compiled engine and with the reference engine."""
    return tuple(run(model, engine, **options) for engine in ("compiled", "reference"))


def run(model, engine, **options):
    result = ps.simulate(model, engine=engine, **options)
    assert result.engine == engine
    return result


def _kind(state):
    joint = "rigidity" if ".rigidity" in state else "joint multipliers"
    name = {"q": "q", "v": "v"}.get(state.rpartition(".")[2], joint)
    return f"{name} (velocity)" if state.endswith("(velocity)") else name


def numbers(result):
    """Yield every array of a result with its kind: what has one unit, more or less."""
    for name, state in result.states.items():
        yield _kind(name), name, state.values
    for name, port in result.ports.items():
        yield f"u [{port.u_unit}]", name, port.u
        yield f"y [{port.y_unit}]", name, port.y
        yield "energies", f"port {name}", port.energy
    for name, joint in result.observation.joints.items():
        for label, values in joint.coordinates.items():
            yield "angles" if "angle" in label else "displacements", f"{name} {label}", values
        yield "rotation vectors", name, joint.rotation
        for label in ("force", "torque", "force_a", "torque_a"):
            yield "reactions", f"{label} of {name}", getattr(joint, label)
    for label in ("energy", "dissipated"):
        yield "energies", label, getattr(result, label)


def _floor(kind, h):
    """Velocity multipliers are what positions lack of h v, over h."""
    return 10 * ROUND_OFF / h if kind.endswith("(velocity)") else ROUND_OFF


def assert_same(one, other, rtol=RTOL):
    """The same times, and the same numbers relative to the largest of their kind."""
    assert np.array_equal(one.time, other.time)
    assert (one.status, one.stats.steps) == (other.status, other.stats.steps)
    gaps, sizes = {}, {}
    for (kind, name, a), (_, same_name, b) in zip(numbers(one), numbers(other), strict=True):
        assert (name, a.shape) == (same_name, b.shape)
        gap = abs(a - b).max(initial=0.0)
        gaps[kind] = max(gaps.get(kind, (0.0, "")), (gap, name))
        sizes[kind] = max(sizes.get(kind, 0.0), abs(b).max(initial=0.0))
    allowed = {kind: rtol * sizes[kind] + _floor(kind, other.h) for kind in gaps}
    far = {kind: gap for kind, gap in gaps.items() if not gap[0] <= allowed[kind]}
    assert not far, "\n".join(f"{kind}: {far[kind]} of {sizes[kind]:.3g}" for kind in far)


def add_hinge(model, spin=2.0):
    """Add a free wheel on the ground, beside everything else.

    Kernels are compiled for the parts that a mechanism has, and that takes long: with this one and
    the next all tests need but a few of them.
    """
    wheel = model.add_body(
        "wheel",
        ps.Box(mass=1, size=(0.3, 0.2, 0.1)),
        position=(2, 2, 2),
        angular_velocity=(0, 0, spin),
    )
    model.add_joint("hub", ps.Revolute(model.ground, wheel, point=(2, 2.2, 2), axis=(0, 0, 1)))
    return wheel


def add_every_part(model, spin=2.0):
    """Add a wheel with a spring, a damper, a load and a field."""
    wheel = add_hinge(model, spin)
    model.add_force("coil", ps.JointSpring("hub", stiffness=1.0, damping=0.1))
    model.add_port("push", ps.ForcePort(wheel, value=(0.1, 0.2, 0)))
    model.add_force(
        "field",
        ps.Field(
            lambda points, directions: float(points[0] @ directions[0]),
            points=[(wheel, (2.1, 2, 2))],
            directions=[(wheel, (0, 1, 0))],
            gradient=lambda points, directions: (directions, points),
        ),
    )
    return wheel


def finished(plan, add=add_every_part):
    """Build a plan with a wheel beside it, velocities projected on the joints."""
    model = plan.model(project=False)
    add(model)
    model.project_velocities()
    return model
