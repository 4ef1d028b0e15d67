"""A result: named arrays with units, their balance, and nothing that calls back."""

import numpy as np
import pytest
from parts import mass, oscillator, spring

import poinsot as ps
from poinsot import ph


@pytest.fixture(scope="module")
def result():
    system = ph.interconnect(
        ph.linear(
            "cart",
            states=[ph.State("p", 2, unit="kg m/s")],
            J=np.zeros((2, 2)),
            R=0.1 * np.eye(2),
            Q=np.eye(2),
            B=[[1, 1], [0, 0]],
            ports=[
                ph.Port("push", effort="N", flow="m/s"),
                ph.Port("hook", effort="N", flow="m/s"),
            ],
        ),
        spring("spring"),
        connections=ph.Gyrator("hook", "spring.end"),
        name="train",
    )
    return ps.simulate(system, h=0.1, t_end=1.0, x0={"p": [1, 2]}, inputs={"push": np.cos})


def test_states_are_found_by_name(result):
    assert result["p"].shape == (11, 2)
    assert result["spring.q"].shape == (11,)
    assert list(result.states) == ["p", "spring.q"]
    assert result.states["p"].unit == "kg m/s"
    with pytest.raises(ps.InputError, match=r"no state 'spring.p'; did you mean 'spring.q'"):
        result["spring.p"]


def test_ports_are_found_by_name(result):
    assert {n: p.connected for n, p in result.ports.items()} == {
        "push": False,
        "hook": True,
        "spring.end": True,
    }
    assert (result.port("push").u_unit, result.port("push").y_unit) == ("N", "m/s")
    assert (result.port("spring.end").u_unit, result.port("spring.end").y_unit) == ("m/s", "N")
    with pytest.raises(ps.InputError, match="no port 'psh'; did you mean 'push'"):
        result.port("psh")


def test_the_books_balance(result):
    expected = result.energy - result.energy[0] - result.supplied + result.dissipated
    assert np.allclose(result.balance_error, expected, rtol=0, atol=1e-15)
    assert np.abs(result.balance_error).max() == pytest.approx(result.stats.balance_error_max)
    assert np.allclose(result.supplied, result.port("push").energy)
    assert np.allclose(result.port("hook").energy, -result.port("spring.end").energy, atol=1e-15)
    # Each part keeps its own books: what enters a spring is what it stores.
    stored = 3 * result["spring.q"] ** 2 / 2
    assert np.allclose(result.port("spring.end").energy, stored, atol=1e-14)


def test_the_summary_says_what_happened(result):
    text = result.summary()
    for words in ("train", "ph-dg, h = 0.1 s, 10 steps", "0 to 1 s (done)", "supplied by 'push'"):
        assert words in text
    assert "'hook'" not in text
    assert f"{result.dissipated[-1]:.9g} J" in text


def test_a_result_of_an_interrupted_run_is_whole():
    def force(t):
        if t > 0.3:
            raise KeyboardInterrupt
        return 0.0

    result = ps.simulate(
        oscillator(), h=0.1, t_end=1, x0=[1, 0], inputs={"oscillator.force": force}
    )
    sizes = {len(result.time), len(result.energy), len(result["oscillator.q"])}
    assert sizes == {4}
    assert len(result.port("oscillator.force").power) == 3
    assert "(interrupted)" in result.summary()
    assert "stopped" in result.summary()


def test_no_ports_and_no_dissipation_leave_zeros():
    result = ps.simulate(mass(), h=0.1, t_end=1, x0=[1])
    assert not result.supplied.any()
    assert not result.dissipated.any()
