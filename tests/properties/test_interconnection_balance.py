"""What flows out of one part flows into the others: connected ports exchange power exactly."""

import numpy as np
import pytest
from balance import step_errors, turnover
from hypothesis import given, settings
from hypothesis import strategies as st
from parts import nonlinear
from strategies import as_system, random_matrices, seeds, wave

import poinsot as ps
from poinsot import ph

KINDS = {
    "gyrator": lambda C: ph.Gyrator("left.port0", "right.port0", C),
    "transformer": lambda C: ph.Transformer("left.port0", "right.port0", C),
}


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=15)
@given(seed=seeds, n=st.integers(2, 4), C=st.floats(-2, 2).filter(lambda c: abs(c) > 0.1))
def test_connected_ports_exchange_power_and_keep_the_balance(kind, seed, n, C):
    left = as_system(random_matrices(seed, n, 2)).prefixed("left")
    right = as_system(random_matrices(seed + 1, n, 1)).prefixed("right")
    system = ph.interconnect(left, right, connections=KINDS[kind](C))
    system = ph.feed(system, "left.port1", wave(0))
    x0 = ph.consistent_state(system, np.ones(system.n))
    result = ps.simulate(system, h=0.05, t_end=1.0, x0=x0)
    a, b = result.port("left.port0"), result.port("right.port0")
    scale = turnover(result)
    assert np.abs(a.energy + b.energy).max() <= 1e-12 * scale
    assert np.abs(a.energy).max() > 1e-6 * scale
    assert np.abs(step_errors(result)).max() <= 1e-12 * scale


@settings(max_examples=15)
@given(common=st.sampled_from(["output", "input"]), seed=seeds, count=st.integers(2, 4))
def test_a_junction_of_many_ports_stores_and_loses_nothing(common, seed, count):
    parts = [as_system(random_matrices(seed + i, 3, 1)).prefixed(f"s{i}") for i in range(count)]
    names = tuple(f"s{i}.port0" for i in range(count))
    system = ph.interconnect(*parts, connections=ph.Junction(names, common))
    x0 = ph.consistent_state(system, np.ones(system.n))
    result = ps.simulate(system, h=0.05, t_end=0.5, x0=x0)
    ports = [result.port(name) for name in names]
    scale = turnover(result)
    assert np.abs(sum(p.energy for p in ports)).max() <= 1e-12 * scale
    shared, summed = ("y", "u") if common == "output" else ("u", "y")
    first = getattr(ports[0], shared)
    size = max(np.abs(first).max(), 1e-3)
    assert all(np.abs(getattr(p, shared) - first).max() <= 1e-11 * size for p in ports)
    total = sum(getattr(p, summed) for p in ports)
    biggest = max(np.abs(getattr(p, summed)).max() for p in ports)
    assert np.abs(total).max() <= 1e-11 * max(biggest, 1e-3)


@settings(max_examples=10)
@given(D=st.floats(0, 3), cubic=st.floats(0, 2))
def test_what_a_resistor_takes_from_its_port_is_what_the_system_loses(D, cubic):
    resistor = ph.Resistor(
        "body.force", D, law=lambda y: cubic * y**3, dlaw=lambda y: 3 * cubic * y**2
    )
    system = ph.interconnect(nonlinear("cosine"), connections=resistor)
    result = ps.simulate(system, h=0.1, t_end=1.0, x0=[1.0, 0.5])
    port = result.port("body.force")
    y = port.y[:, 0]
    assert np.allclose(port.u[:, 0], -(D * y + cubic * y**3), rtol=1e-13, atol=1e-14)
    assert np.allclose(-port.energy, result.dissipated, rtol=1e-12, atol=1e-13)
    assert np.abs(step_errors(result)).max() <= 1e-12 * turnover(result)
    assert np.diff(result.dissipated).min() >= -1e-15
