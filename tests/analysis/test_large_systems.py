"""Systems with many states: everything stays sparse, whatever kind they are of."""

import numpy as np
import pytest
import scipy.sparse as sp
from linear_models import GRAVITY, chain

import poinsot as ps
from poinsot import ph


def ladder(count, resistance=1e-3):
    """Coils of 1 H in a row, each with a capacitor of 1 F behind it; the last one is open."""
    D = sp.diags_array([np.ones(count), -np.ones(count - 1)], offsets=[0, -1])
    empty = sp.csr_array((count, count))
    system = ph.linear(
        "ladder",
        states=[ph.State("flux", count), ph.State("charge", count)],
        J=sp.block_array([[empty, -D.T], [D, empty]], format="csr"),
        R=sp.block_diag([resistance * sp.eye_array(count), empty], format="csr"),
        Q=sp.eye_array(2 * count, format="csr"),
        B=np.eye(2 * count, 1),
        ports=[ph.Port("end", 1, "V", "A")],
    )
    k = np.arange(1, count + 1)
    squares = 4 * np.sin((2 * k - 1) * np.pi / (4 * count + 2)) ** 2
    return system, np.sort_complex([np.roots([1, resistance, w])[0] for w in squares])


@pytest.mark.parametrize("count", [300, 5000])
def test_a_long_circuit_has_the_slowest_modes_of_its_closed_form(count):
    system, exact = ladder(count, resistance=1e-3 if count < 1000 else 1e-5)
    modes = ps.analysis.modes(system, 10)
    slow = exact[np.argsort(abs(exact))][:10]
    found = modes.eigenvalues
    assert len(modes) == 10
    for value in slow:
        gap = min(abs(found - value).min(), abs(found - value.conj()).min())
        assert gap < 1e-8 * abs(value)


def test_a_long_chain_with_a_coil_has_the_modes_of_the_chain():
    model, exact = chain(60)
    model.add_port("push", ps.JointPort("j0"))
    coil = ph.linear(
        "coil",
        states=[ph.State("flux")],
        J=[[0.0]],
        R=[[1.2]],
        Q=[[500.0]],
        B=[[1.0]],
        ports=[ph.Port("coil", 1, "V", "A")],
    )
    gyrator = ph.Gyrator("coil", "push", C=1e-7, unit="N/A")
    whole = ph.interconnect(coil, model.compile(), connections=gyrator)
    modes = ps.analysis.modes(whole, 5)
    np.testing.assert_allclose(modes.frequencies, np.sort(exact)[:5], rtol=1e-10)
    assert set(modes.kinds) == {"oscillation"}


def links(count):
    """Bars on hinges that hang down, axes across in turn, with a motor at the top."""
    model, last = ps.Model(gravity=(0, 0, -GRAVITY)), None
    for k in range(count):
        body = model.add_body(
            f"b{k}", ps.Box(mass=1.0, size=(0.1, 0.1, 0.5)), position=(0, 0, -(k + 0.5) / 2)
        )
        axis = (1, 0, 0) if k % 2 else (0, 1, 0)
        place = {"point": (0, 0, -k / 2), "axis": axis}
        model.add_joint(f"j{k}", ps.Revolute(last or model.ground, body, **place))
        last = body
    model.add_port("motor", ps.JointPort("j0"))
    return model


def test_the_minimal_form_of_a_large_mechanism_is_sparse_and_answers_alike():
    linear = ps.analysis.linearise(links(20))
    small = ps.analysis.minimal(linear)
    assert sp.issparse(linear.matrix_E)
    assert small.freedoms == 20
    assert small.defects(small.start).holds(1e-9)
    omega = [0.5, 2.3]
    whole, part = (ps.analysis.frequency_response(a, omega).values for a in (linear, small))
    np.testing.assert_allclose(part, whole, rtol=1e-9)
    values = np.linalg.eigvals(linear.state_space().A)
    slowest = np.sort(abs(values))[::2][:6]
    np.testing.assert_allclose(ps.analysis.modes(linear, 6).frequencies, slowest, rtol=1e-9)


def test_the_minimal_form_of_masses_on_a_rail_keeps_each_to_itself():
    model, exact = chain(40)
    small = ps.analysis.minimal(ps.analysis.linearise(model))
    assert sp.csr_array(small.V).nnz == 2 * 40
    squares = np.linalg.eigvals(np.linalg.solve(small.block("M"), small.block("K")))
    np.testing.assert_allclose(np.sort(np.sqrt(squares)), np.sort(exact), rtol=1e-9)


@pytest.mark.parametrize("sign", [1, -1])
def test_large_damping_is_proven_without_a_dense_matrix(sign):
    n = 4000 if sign > 0 else 400
    R = sp.diags_array([np.full(n, 2.0), -np.ones(n - 1), -np.ones(n - 1)], offsets=[0, -1, 1])
    arguments = {
        "states": [ph.State("x", n)],
        "J": sp.csr_array((n, n)),
        "R": sp.csr_array(R if sign > 0 else sp.diags_array(np.append(np.ones(n - 1), -1.0))),
        "Q": sp.eye_array(n, format="csr"),
        "B": np.eye(n, 1),
        "ports": [ph.Port("p", 1)],
    }
    if sign > 0:
        assert ph.linear("rod", **arguments).n == n
    else:
        with pytest.raises(ps.StructureError, match="R is not positive"):
            ph.linear("rod", **arguments)
