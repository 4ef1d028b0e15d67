import linear_models as known
import numpy as np
import pytest

import poinsot as ps
from poinsot.ph.derivatives import jacobian

linearise = ps.analysis.linearise


def in_motion():
    """Two bodies that swing under loads, with a spring-damper: no term vanishes."""
    model = ps.Model(gravity=(0, 0, -9.81))
    a = model.add_body(
        "a",
        ps.Box(mass=1.3, size=(0.1, 0.2, 0.6)),
        position=(0, 0.1, -0.3),
        angular_velocity=(2.0, 0, 0),
    )
    b = model.add_body("b", ps.Box(mass=0.7, size=(0.3, 0.2, 0.1)), position=(0, 0.1, -0.8))
    model.add_joint("A", ps.Revolute(model.ground, a, point=(0, 0.1, 0), axis=(1, 0, 0)))
    model.add_joint("B", ps.Spherical(a, b, point=(0, 0.1, -0.6)))
    ends = {"point_a": (1, 1, 0), "point_b": (0.1, 0.1, -0.8)}
    model.add_force(
        "k", ps.Spring(model.ground, b, stiffness=40.0, damping=2.0, rest_length=0.5, **ends)
    )
    model.add_port("torque", ps.JointPort("A"))
    model.add_port("force", ps.ForcePort(b, point=(0.1, 0.1, -0.8)))
    return model


@pytest.mark.parametrize(
    "coordinates", ["directors", "rotations", "rotations-quaternion", "rotations-euler"]
)
def test_the_matrix_is_the_derivative_of_the_equations_in_any_motion(coordinates):
    linear = linearise(in_motion(), u={"torque": 3.0, "force": (1, 2, 3)}, coordinates=coordinates)
    at, T = linear.about, np.asarray(linear.about.T)

    def residual(x):
        return at.system.flow(x, at.system.z(x), at.u) - at.system.E(x) @ at.rate

    exact = np.linalg.pinv(T) @ jacobian(residual, at.x) @ T
    assert np.max(abs(linear.matrix_A - exact)) < 1e-11 * np.max(abs(exact))
    outputs = jacobian(lambda x: at.system.y(x, at.system.z(x)), at.x) @ T
    assert np.max(abs(linear.matrix_C - outputs)) < 1e-11 * np.max(abs(outputs))
    assert isinstance(linear, ps.analysis.LinearDescriptor)
    assert "E^T Q" in linear.why or "(J - R)" in linear.why


def test_multipliers_and_rates_are_made_consistent_with_the_state():
    linear = linearise(in_motion())
    at = linear.about
    z = at.system.z(at.x)
    assert np.max(abs(at.system.E(at.x) @ at.rate - at.system.flow(at.x, z, at.u))) < 1e-11
    G, slope = at.system.mechanism.G(at.x[:24]), at.system.mechanism.slope(at.x[:24], at.x[24:48])
    assert np.max(abs(G @ at.rate[24:48] + slope @ at.rate[:24])) < 1e-10


@pytest.mark.parametrize("coordinates", known.COORDINATES)
@pytest.mark.parametrize(
    "build", [known.pendulum, known.slider_crank, known.four_bar, known.free_pair]
)
def test_at_an_equilibrium_the_structure_is_kept(build, coordinates):
    linear = linearise(build()[0], coordinates=coordinates)
    assert isinstance(linear, ps.ph.PHSystem)
    assert linear.defects(linear.start).holds(1e-10)
    energy = linear.matrix_E.T @ linear.matrix_Q
    assert np.max(abs(energy - energy.T)) < 1e-10 * np.max(abs(energy))


def test_the_linear_system_simulates_and_follows_the_mechanism_in_small_motions():
    model, *_ = known.pendulum(damping=0.4)
    push = 1e-6
    linear = linearise(model)
    both = [
        ps.simulate(system, h=1e-3, t_end=1.0, inputs={"motor": push}) for system in (linear, model)
    ]
    assert np.max(abs(both[0].balance_error)) < 1e-12 * np.max(abs(both[0].energy))
    small, whole = (run.port("motor").y[:, 0] for run in both)
    assert np.max(abs(small - whole)) < 1e-6 * np.max(abs(whole))


def test_the_linear_system_interconnects_as_the_mechanism_does():
    coil = ps.ph.linear(
        "coil",
        states=["flux"],
        J=[[0.0]],
        R=[[2.0]],
        Q=[[2.0]],
        B=[[1.0]],
        ports=[ps.ph.Port("shaft")],
    )
    model, inertia, weight = known.pendulum()
    exact = np.roots([0.5 * inertia, 2 * inertia, 0.5 * weight + 0.3**2, 2 * weight])
    for system in (model.compile(), linearise(model), model.compile("rotations")):
        joined = ps.ph.interconnect(
            system, coil, connections=ps.ph.Gyrator("shaft", "motor", C=[[0.3]])
        )
        linear = linearise(joined)
        assert isinstance(linear, ps.analysis.LinearPHSystem)
        found = ps.analysis.poles(linear)
        assert np.max(abs(np.sort_complex(found) - np.sort_complex(exact))) < 1e-10


def test_names_of_states_and_ports_are_kept():
    linear = linearise(known.slider_crank()[0])
    assert [s.name for s in linear.states][:3] == ["crank.q", "rod.q", "slider.q"]
    assert [port.name for port in linear.ports] == ["motor"]
    free = linearise(known.slider_crank()[0], coordinates="rotations")
    assert [s.name for s in free.states][:3] == ["crank.s", "rod.s", "slider.s"]


def test_it_may_be_about_a_saved_state_a_vector_or_named_values():
    model, *_ = known.pendulum()
    run = ps.simulate(model, h=0.01, t_end=0.1)
    system = model.compile()
    exact = linearise(model).matrix_A
    for at in (run, (run, 0.05), system.start, {"rod.v": np.zeros(12)}):
        assert np.max(abs(linearise(system, at=at).matrix_A - exact)) < 1e-9
    with pytest.raises(ps.InputError, match=r"no time 3 s"):
        linearise(system, at=(run, 3.0))
    with pytest.raises(ps.InputError, match=r"no state 'a\.rod\.q'"):
        linearise(ps.ph.interconnect(system.prefixed("a"), connections=[]), at=run)
    with pytest.raises(ps.InputError, match="give 'start', a state"):
        linearise(system, at="nowhere")
    with pytest.raises(ps.InputError, match="expected a Model or a system"):
        linearise(3)


def test_a_law_of_the_state_is_part_of_the_system_and_its_port_is_gone():
    model, inertia, weight = known.pendulum()
    model.add_port(
        "spring", ps.JointPort("hinge", law=lambda t, angle, rate: -7.0 * angle - 0.2 * rate)
    )
    linear = linearise(model)
    assert [port.name for port in linear.ports] == ["motor"]
    found = np.sort_complex(ps.analysis.poles(linear))
    exact = np.sort_complex(np.roots([inertia, 0.2, weight + 7.0]))
    assert np.max(abs(found - exact)) < 1e-9 * np.max(abs(exact))


def test_a_lagrangian_of_ones_own_has_the_same_modes_in_every_form():
    import sympy

    q = sympy.symbols("a b")
    c = sympy.cos(q[0] - q[1])
    own = ps.LagrangianSystem.symbolic(
        "double", q=q, M=[[2, c], [c, 1]], V=-9.81 * (2 * sympy.cos(q[0]) + sympy.cos(q[1]))
    )
    exact = np.sqrt(9.81 * (2 + np.array([-1, 1]) * np.sqrt(2)))
    for form in (own, own.livens(), own.hamiltonian(), own.port_hamiltonian()):
        found = ps.analysis.modes(form)
        assert isinstance(found.linear, ps.analysis.LinearPHSystem)
        assert np.max(abs(found.frequencies / exact - 1)) < 1e-12
