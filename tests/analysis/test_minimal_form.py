import linear_models as known
import numpy as np
import pytest

import poinsot as ps

A = ps.analysis


@pytest.mark.parametrize("coordinates", known.COORDINATES)
def test_the_null_space_leaves_mass_and_stiffness_of_the_degrees_of_freedom(coordinates):
    model, mass, stiffness = known.slider_crank()
    small = A.minimal(A.linearise(model, coordinates=coordinates))
    assert small.freedoms == 1
    # Of a motion in which the crank turns by one.
    scale = small.block("B")[0, 0]
    assert small.block("M")[0, 0] / scale**2 == pytest.approx(mass, rel=1e-10)
    assert small.block("K")[0, 0] / scale**2 == pytest.approx(stiffness, rel=1e-10)
    assert (
        abs(small.block("J")[0, 0]) + abs(small.block("R")[0, 0]) < 1e-14 * small.block("M")[0, 0]
    )
    with pytest.raises(ps.InputError, match="no block 'X'"):
        small.block("X")


@pytest.mark.parametrize("coordinates", known.COORDINATES)
@pytest.mark.parametrize("build", [known.pendulum, known.four_bar, known.free_pair])
def test_the_minimal_form_is_port_hamiltonian_and_has_the_same_modes(build, coordinates):
    linear = A.linearise(build()[0], coordinates=coordinates)
    small = A.minimal(linear)
    assert small.defects(small.start).holds(1e-10)
    whole, part = A.modes(linear), A.modes(small)
    assert part.infinite == part.constants == 0
    assert np.max(abs(whole.eigenvalues - part.eigenvalues)) < 1e-10 * np.max(
        abs(whole.eigenvalues)
    )


def test_states_of_the_minimal_form_are_states_of_the_whole():
    linear = A.linearise(known.slider_crank()[0])
    small = A.minimal(linear)
    constraints = linear.matrix_J[linear.algebraic]
    assert np.max(abs(constraints @ linear.matrix_Q @ small.V)) < 1e-12


def test_a_connection_of_several_systems_has_a_minimal_form():
    model, inertia, weight = known.pendulum()
    parts = model.compile().prefixed("a"), model.compile("rotations").prefixed("b")
    tie = ps.ph.Transformer("a.motor", "b.motor", C=[[2.0]])
    small = A.minimal(A.linearise(ps.ph.interconnect(*parts, connections=tie)))
    assert small.n == 2
    assert small.defects(small.start).holds(1e-10)
    assert A.modes(small).frequencies[0] == pytest.approx(np.sqrt(weight / inertia), rel=1e-11)


def test_what_is_not_port_hamiltonian_has_none():
    system = known.pendulum()[0].compile("rotations")
    moving = A.linearise(system, at={"rod.w": (0, 1.0, 0, 2.0, 0, 0)})
    with pytest.raises(ps.StructureError, match="not port-Hamiltonian"):
        A.minimal(moving)
