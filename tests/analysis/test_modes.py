import linear_models as known
import numpy as np
import pytest

import poinsot as ps

modes = ps.analysis.modes


@pytest.mark.parametrize("coordinates", known.COORDINATES)
def test_a_damped_pendulum_has_the_roots_of_its_equation(coordinates):
    model, inertia, weight = known.pendulum(damping=0.4)
    found = modes(model, coordinates=coordinates)
    exact = max(np.roots([inertia, 0.4, weight]), key=lambda s: s.imag)
    assert abs(found.eigenvalues[0] / exact - 1) < 1e-12
    assert found.damping_ratios[0] == pytest.approx(0.4 / 2 / np.sqrt(inertia * weight), rel=1e-12)
    assert found.hertz[0] == pytest.approx(np.sqrt(weight / inertia) / 2 / np.pi, rel=1e-12)
    assert found.kinds == ("oscillation",)
    assert found.residual < 1e-12


def test_a_double_pendulum_of_point_masses_swings_in_two_planes():
    model, exact = known.double_pendulum()
    found = modes(model)
    assert np.max(abs(found.frequencies / np.repeat(exact, 2) - 1)) < 1e-12


@pytest.mark.parametrize("count", [1, 2, 5, 13])
def test_a_chain_of_springs_and_masses_has_the_frequencies_of_its_closed_form(count):
    model, exact = known.chain(count)
    found = modes(model)
    assert len(found) == count
    assert np.max(abs(found.frequencies / exact - 1)) < 1e-11
    assert np.all(found.eigenvalues.real == 0)


def test_a_chain_of_a_thousand_masses_does_too():
    model, exact = known.chain(1000)
    found = modes(model, 20)
    assert np.max(abs(found.frequencies / exact[:20] - 1)) < 1e-10
    assert found.residual < 1e-9


def test_a_chain_in_other_units_has_the_same_modes():
    for scale in (1e-9, 1e9):
        model, exact = known.chain(4, stiffness=100 * scale, mass=scale)
        assert np.max(abs(modes(model).frequencies / exact - 1)) < 1e-10
    model, exact = known.chain(4, stiffness=1e12)
    assert np.max(abs(modes(model).frequencies / exact - 1)) < 1e-10


@pytest.mark.parametrize("coordinates", known.COORDINATES)
@pytest.mark.parametrize("angle", [0.3, 0.7, 2.2])
def test_a_closed_loop_has_the_frequency_that_sympy_derives(angle, coordinates):
    model, mass, stiffness = known.slider_crank(angle)
    found = modes(model, coordinates=coordinates)
    assert found.frequencies[0] == pytest.approx(np.sqrt(stiffness / mass), rel=1e-11)
    assert len(found) == 1
    assert found.repeated == 3


@pytest.mark.parametrize("coordinates", known.COORDINATES)
def test_repeated_constraints_leave_the_modes_of_a_four_bar_as_they_are(coordinates):
    model, exact = known.four_bar()
    found = modes(model, coordinates=coordinates)
    assert abs(found.eigenvalues[0] / exact[exact.imag > 0][0] - 1) < 1e-11
    assert (len(found), found.repeated, found.index) == (1, 3, 2)


@pytest.mark.parametrize("coordinates", known.COORDINATES)
def test_rigid_modes_are_exactly_zero_and_counted(coordinates):
    model, exact = known.free_pair()
    found = modes(model, coordinates=coordinates)
    assert (found.rigid, found.drifting) == (8, 8)
    assert found.kinds == ("rigid",) * 8 + ("oscillation",)
    assert np.all(found.eigenvalues[:8] == 0)
    assert found.frequencies[8] == pytest.approx(exact, rel=1e-12)
    assert found.residual < 1e-12


def test_rigid_modes_of_a_large_system_are_exactly_zero_and_counted():
    model, last = ps.Model(), None
    for k in range(60):
        body = model.add_body(f"b{k}", ps.PointMass(mass=1.0), position=(k, 0, 0))
        if last is not None:
            ends = {"point_a": (k - 1.0, 0, 0), "point_b": (float(k), 0, 0)}
            model.add_force(f"s{k}", ps.Spring(last, body, stiffness=100.0, **ends))
        place = {"point": (float(k), 0, 0), "axis": (1, 0, 0)}
        model.add_joint(f"j{k}", ps.PointOnLine(model.ground, body, **place))
        last = body
    found = modes(model, 4)
    assert found.linear.n > 300
    assert (found.rigid, found.drifting) == (1, 1)
    exact = 20 * np.sin(np.arange(4) * np.pi / 120)
    assert np.max(abs(found.frequencies - exact)) < 1e-10 * exact[1]


def test_small_and_large_systems_are_solved_alike():
    model, _ = known.chain(12)
    linear = ps.analysis.linearise(model)
    assert linear.n > 300
    few, all_ = modes(linear, 5), modes(linear)
    assert np.max(abs(few.frequencies / all_.frequencies[:5] - 1)) < 1e-11
    for k in range(5):
        one, other = few.shapes[:, k], all_.shapes[:, k]
        assert np.max(abs(one - other)) < 1e-8 * np.max(abs(other))


def test_loops_with_losses_are_solved_alike_in_small_and_large_systems():
    model = ps.Model(gravity=(0, 0, -9.81))
    exact = []
    for k in range(6):
        y, mass, ground = float(k), 1 + 0.1 * k, model.ground
        bar = ps.Box(mass=mass, size=(0.05, 0.05, 1.0))
        a = model.add_body(f"a{k}", bar, position=(0, y, -0.5))
        b = model.add_body(f"b{k}", ps.Box(mass=2.0, size=(2.0, 0.05, 0.05)), position=(1, y, -1))
        c = model.add_body(f"c{k}", bar, position=(2, y, -0.5))
        corners = (
            (ground, a, (0, y, 0)),
            (a, b, (0, y, -1)),
            (b, c, (2, y, -1)),
            (c, ground, (2, y, 0)),
        )
        for j, (one, other, point) in enumerate(corners):
            model.add_joint(f"j{k}{j}", ps.Revolute(one, other, point=point, axis=(0, 1, 0)))
        model.add_force(f"k{k}", ps.JointSpring(f"j{k}0", stiffness=30.0, damping=0.3))
        inertia = 2 * mass * ((1 + 0.05**2) / 12 + 0.25) + 2.0
        exact.append(np.roots([inertia, 0.3, 30 + (2 + mass) * 9.81])[0])
    exact = np.array(exact)[np.argsort(abs(np.array(exact)))]
    exact = exact.real + 1j * abs(exact.imag)
    found = modes(model, 6)
    assert found.linear.n > 600
    assert np.max(abs(found.eigenvalues - exact)) < 1e-10 * abs(exact[0])


def test_a_shape_tells_how_states_move():
    found = modes(known.chain(5)[0])
    moved = np.array([found.shape(0, f"b{k}.q")[0] for k in range(5)])
    exact = np.sin(np.arange(1, 6) * np.pi / 11)
    assert np.max(abs(moved / moved[-1] - exact / exact[-1])) < 1e-12
    assert set(found.shape(0)) == {s.name for s in found.linear.states}
    with pytest.raises(ps.InputError, match=r"no state 'b9\.q'"):
        found.shape(0, "b9.q")
    assert "rad/s" in str(found)


@pytest.mark.parametrize("coordinates", known.COORDINATES)
def test_a_mode_tells_how_bodies_move(coordinates):
    found = modes(known.slider_crank()[0], coordinates=coordinates)
    moved = found.bodies(0)
    (crank, turn), (slider, still) = moved["crank"], moved["slider"]
    # By the crank's turn about its bearing at (0, 0, 0), and along the slider's rail.
    arm = 0.1 * np.array([np.cos(0.7), np.sin(0.7), 0])
    assert np.max(abs(crank - np.cross(turn, arm))) < 1e-10 * np.max(abs(turn))
    assert np.max(abs(turn[:2])) + np.max(abs(still)) + np.max(abs(slider[1:])) < 1e-10 * abs(
        turn[2]
    )
    tilt = np.arcsin(0.4 * np.sin(0.7))
    ratio = -0.2 * np.sin(0.7) - 0.5 * np.sin(tilt) * 0.4 * np.cos(0.7) / np.cos(tilt)
    assert slider[0] / turn[2] == pytest.approx(ratio, rel=1e-10)
    own = ps.ph.linear("own", states=["x"], J=[[0.0]], R=[[1.0]], Q=[[1.0]])
    with pytest.raises(ps.InputError, match="has no bodies"):
        modes(own).bodies(0)


def test_an_upright_pendulum_falls():
    model = ps.Model(gravity=(0, 0, -9.81))
    rod = model.add_body("rod", ps.Box(mass=1.0, size=(0.1, 0.1, 1.0)), position=(0, 0, 0.5))
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(1, 0, 0)))
    found = modes(model)
    rate = np.sqrt(9.81 * 0.5 / ((1 + 0.01) / 12 + 0.25))
    assert found.kinds == ("decay", "growth")
    assert np.max(abs(np.sort(found.eigenvalues.real) / [-rate, rate] - 1)) < 1e-12
    assert not found.stable


def test_a_singular_pencil_is_named():
    J, half = [[0, 1], [-1, 0]], np.diag([1.0, 0])
    broken = ps.ph.linear("broken", states=["a", "b"], J=J, Q=half, E=half)
    with pytest.raises(ps.SingularPencilError, match=r"'broken'.*'b'"):
        modes(broken)


def test_a_state_that_no_equation_knows_is_named():
    loose = ps.ph.linear(
        "loose",
        states=["a", "b"],
        E=np.diag([1.0, 0]),
        J=0 * np.eye(2),
        Q=np.eye(2),
        B=np.eye(2, 1),
        ports=[ps.ph.Port("p", 1)],
    )

    def response(system):
        return ps.analysis.frequency_response(system, [1.0])

    for look in (modes, ps.analysis.minimal, ps.analysis.poles, response):
        with pytest.raises(ps.SingularPencilError, match=r"'loose'.*'b'"):
            look(loose)


def test_a_number_of_modes_that_is_none_is_refused():
    with pytest.raises(ps.InputError, match="count"):
        modes(known.pendulum()[0], 0)


@pytest.mark.parametrize("look", ["shape", "bodies", "energies", "largest", "moves_most", "motion"])
def test_a_mode_that_there_is_not_is_refused(look):
    found = modes(known.pendulum()[0])
    for number in (1, -2, 0.0, None):
        with pytest.raises(ps.InputError, match=r"no mode .*; there are 1"):
            getattr(found, look)(number)


@pytest.mark.parametrize("coordinates", ["directors", "quaternions", "rotations"])
def test_parts_of_the_kinetic_energy_are_those_of_a_hinged_rod(coordinates):
    """Of a rod that swings about its end, m l^2 / 4 of m (a^2 + l^2) / 12 + m l^2 / 4 moves."""
    model = ps.Model(gravity=(0, 0, -9.81))
    rod = model.add_body("rod", ps.Box(mass=2.0, size=(0.1, 0.1, 1.0)), position=(0, 0, -0.5))
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(1, 0, 0)))
    moves, turns = ps.analysis.modes(model, coordinates=coordinates).energies(0)["rod"]
    assert moves == pytest.approx(0.25 / (0.25 + 1.01 / 12), rel=1e-12)
    assert moves + turns == pytest.approx(1.0, rel=1e-15)


def geared(ratio, *, efficiency=1.0):
    """Two wheels with a gear between them, the second one on a spring; its frequency [rad/s]."""
    model, J_a, J_b, k = ps.Model(), 0.005, 0.16, 3.0
    for name, shape, x in (
        ("a", ps.Cylinder(mass=1, radius=0.1, length=0.1), 0),
        ("b", ps.Cylinder(mass=8, radius=0.2, length=0.1), 1),
    ):
        body = model.add_body(name, shape, position=(x, 0, 0))
        hinge = ps.Revolute(model.ground, body, point=(x, 0, 0), axis=(0, 0, 1))
        model.add_joint(name.upper(), hinge)
    model.add_transmission("gear", ps.Gear("A", "B", ratio=ratio, efficiency=efficiency))
    model.add_force("spring", ps.JointSpring("B", stiffness=k))
    model.add_port("motor", ps.JointPort("A"))
    return model, np.sqrt(k / (J_b + ratio**2 * J_a))


@pytest.mark.parametrize("coordinates", known.COORDINATES)
def test_a_geared_model_has_as_many_modes_as_degrees_of_freedom(coordinates):
    model, exact = geared(-4.0)
    found = modes(model, coordinates=coordinates)
    assert len(found) == 1
    assert found.frequencies[0] == pytest.approx(exact, rel=1e-12)


def test_a_motor_feels_the_inertia_and_the_spring_behind_its_gear():
    model, exact = geared(3.0)
    linear = ps.analysis.linearise(model)
    assert [port.name for port in linear.ports] == ["motor"]
    s, inertia = 2.0j, 0.005 + 0.16 / 9
    expected = 1 / (inertia * s + 3.0 / 9 / s)
    response = ps.analysis.frequency_response(linear, [s.imag])
    assert complex(np.squeeze(response.values)) == pytest.approx(expected, rel=1e-10)
    assert exact == pytest.approx(np.sqrt(3.0 / 9 / inertia), rel=1e-12)
