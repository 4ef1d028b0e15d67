"""Elastic bodies in the compiled engine: as in the reference engine, and exact for long."""

import numpy as np
import pytest
import scipy.sparse as sp
from beam_models import OPTIONS, flying, soft

import poinsot as ps


def arm(option, **more):
    """A beam on a ball joint, with a box hinged to its end, thrown; springs and ports on places."""
    model = ps.Model(gravity=(0, 0, -9.81))
    shape = soft(length=1, **OPTIONS[option], **more)
    beam = model.add_body("beam", shape, position=(0.5, 0, 0), angular_velocity=(1, 2, 3))
    box = model.add_body("box", ps.Box(mass=0.5, size=(0.1, 0.1, 0.3)), position=(1, 0, -0.15))
    model.add_joint("hook", ps.Spherical(model.ground, beam, point=(0, 0, 0)))
    model.add_joint("hinge", ps.Revolute(beam, box, point=(1, 0, 0), axis=(0, 1, 0)))
    ends = {"point_a": (0.5, 0, 1), "point_b": (0.5, 0, 0)}
    model.add_force("spring", ps.Spring(model.ground, beam, stiffness=50, damping=0.2, **ends))
    model.add_port("push", ps.ForcePort(beam, point=(0.5, 0, 0), value=lambda t: (0, np.sin(t), 1)))
    model.add_port("motor", ps.JointPort("hinge", value=lambda t: 0.1 * np.cos(t)))
    return model


def shell():
    """Return a body of matrices with places at both ends, of coordinates in any direction."""
    random = np.random.default_rng(5)
    nodes = random.uniform(-0.5, 0.5, (12, 3))
    M = sp.diags_array(np.repeat(random.uniform(0.1, 0.3, 12), 3))
    K = np.zeros((36, 36))
    for i in range(12):
        for j in range(i):
            way = nodes[j] - nodes[i]
            stretch = np.zeros(36)
            stretch[3 * i : 3 * i + 3], stretch[3 * j : 3 * j + 3] = -way, way
            K += 2e4 * np.outer(stretch, stretch) / (way @ way)
    ends = {"left": [0, 1, 2], "right": [3, 4, 5]}
    return ps.FlexibleBody.from_matrices(M, K, nodes=nodes, interfaces=ends, modes=4)


def assert_engines_agree(model, h=1e-3, steps=3):
    runs = [ps.simulate(model, h=h, t_end=steps * h, engine=e) for e in ("compiled", "reference")]
    compiled, reference = runs
    assert compiled.engine == "compiled"
    assert not any("reference engine" in note for note in compiled.notes)
    for name, state in reference.states.items():
        size = max(1.0, abs(state.values).max())
        assert abs(compiled.states[name].values - state.values).max() < 1e-9 * size, name
    assert compiled.stats.balance_error_max < 1e-12 * abs(reference.energy).max() + 1e-13
    assert compiled.constraint_error.max() < 1e-13


@pytest.mark.parametrize("option", OPTIONS)
def test_a_beam_moves_alike_in_both_engines(option):
    assert_engines_agree(arm(option))


def test_a_body_of_matrices_moves_alike_in_both_engines():
    model = ps.Model(gravity=(0, 0, -9.81))
    body = model.add_body("shell", shell(), angular_velocity=(1, -2, 3))
    model.add_joint("hook", ps.Spherical(model.ground, body[0], point=body[0].position))
    end = body[1].position
    ball = model.add_body(
        "ball", ps.Sphere(mass=0.3, radius=0.1), position=end + np.array([0.2, 0, 0])
    )
    axes = {"axis_a": (1, 0, 0), "axis_b": (0, 1, 0)}
    model.add_joint("pin", ps.Universal(body[1], ball, point=end, **axes))
    assert_engines_agree(model)


@pytest.mark.parametrize("option", ["undeformed", "planar", "end masses"])
def test_two_thousand_steps_keep_energy_and_joints(option):
    model = arm(option, youngs_modulus=2e9)
    result = ps.simulate(model, h=1e-3, t_end=2, save_every=200, engine="compiled")
    assert result.status == "done"
    assert result.stats.balance_error_max < 1e-10 * abs(result.energy).max()
    assert result.constraint_error.max() < 1e-11


def test_a_free_beam_keeps_both_momenta_for_long():
    model = ps.Model()
    motion = {"velocity": (1, 2, 3), "angular_velocity": (1, 4, -6)}
    beam = model.add_body("beam", soft(4, length=1, youngs_modulus=2e9), **motion)
    box = model.add_body("box", ps.Box(mass=0.5, size=(0.1, 0.2, 0.3)), position=(0.5, 0, -0.15))
    model.add_joint("hinge", ps.Revolute(beam, box, point=(0.5, 0, 0), axis=(0, 1, 0)))
    result = ps.simulate(model, h=1e-3, t_end=2, save_every=100, engine="compiled")
    for momentum in (result.linear_momentum, result.angular_momentum):
        assert abs(momentum - momentum[0]).max() < 1e-11 * np.linalg.norm(momentum[0])
    assert result.stats.balance_error_max < 1e-11 * result.energy[0]


def test_many_steps_may_pass_before_one_is_saved():
    model = flying(soft(1))
    last = ps.simulate(model, h=1e-3, t_end=0.5, save_every=500, engine="compiled")
    every = ps.simulate(model, h=1e-3, t_end=0.5, engine="compiled")
    assert np.array_equal(last.position("beam")[-1], every.position("beam")[-1])


def planar_four_bar():
    """Return a crank, a coupler and a rocker that bend in their plane, on four hinges."""
    model = ps.Model(gravity=(0, -9.81, 0))
    points = np.array([(0, 0, 0), (0, 0.4, 0), (1.1, 0.9, 0), (1.2, 0, 0)])
    places = [model.ground]
    for name, a, b in zip(("crank", "coupler", "rocker"), points, points[1:], strict=False):
        angle = ps.Rotation.from_axis_angle((0, 0, 1), np.arctan2(*(b - a)[1::-1]))
        beam = soft(1, planar=True, length=np.linalg.norm(b - a))
        spin = {"angular_velocity": (0, 0, 12)} if name == "crank" else {}
        link = model.add_body(name, beam, position=(a + b) / 2, rotation=angle, **spin)
        places += [link.start, link.end]
    places.append(model.ground)
    for k, point in enumerate(points):
        hinge = ps.Revolute(*places[2 * k : 2 * k + 2], point=point, axis=(0, 0, 1))
        model.add_joint(f"hinge {k}", hinge)
    return model


def test_repeated_constraints_of_planar_beams_are_left_out():
    model = planar_four_bar()
    assert len(model.check().repeated) == 3
    result, reference = (
        ps.simulate(model, h=2e-3, t_end=0.016, engine=each) for each in ("compiled", "reference")
    )
    assert result.stats.single_steps == 0
    for name in ("crank", "rocker"):
        assert abs(result.position(name) - reference.position(name)).max() < 1e-12
    # Multipliers are the smallest of many, in both engines.
    for name in ("hinge 1", "hinge 3"):
        force, expected = result.reaction(name).force, reference.reaction(name).force
        assert abs(force - expected).max() < 1e-8 * abs(expected).max()
        assert abs(result.reaction(name).torque).max() < 1e-8 * abs(expected).max()


def test_a_loop_of_planar_beams_stays_closed_over_full_turns():
    result = ps.simulate(planar_four_bar(), h=1e-3, t_end=1.5, save_every=10, engine="compiled")
    assert max(abs(result.joint("hinge 0").coordinates["angle"])) > 2 * np.pi
    assert result.constraint_error.max() < 1e-12
    assert result.stats.balance_error_max < 1e-12 * abs(result.energy).max()
