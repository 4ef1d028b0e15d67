"""A result: named arrays with units, their balance, and nothing that calls back."""

import copy
import pickle

import mechanisms
import numpy as np
import pytest
from parts import mass, oscillator, spring

import poinsot as ps
from poinsot import ph
from poinsot.result import Lazy, Observation


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


# -- records that are made when they are asked for --------------------------------------------


@pytest.fixture
def lazy():
    """Squares by name, and the names of those that were made."""
    made = []

    def make(name):
        made.append(name)
        return int(name) ** 2

    return Lazy(("3", "1", "2"), make), made


def test_names_are_known_before_any_record_is_made(lazy):
    squares, made = lazy
    assert len(squares) == 3
    assert list(squares) == list(squares.keys()) == ["3", "1", "2"]
    assert "1" in squares
    assert "4" not in squares
    assert 1 not in squares
    assert "'3'" in repr(squares)
    assert bool(squares)
    assert not Lazy((), int)
    assert made == []


def test_a_record_is_made_once(lazy):
    squares, made = lazy
    assert squares["2"] == squares["2"] == squares.get("2") == 4
    assert made == ["2"]
    assert dict(squares) == {"3": 9, "1": 1, "2": 4}
    assert list(squares.items()) == [("3", 9), ("1", 1), ("2", 4)]
    assert made == ["2", "3", "1"]


def test_what_was_forgotten_is_made_again(lazy):
    squares, made = lazy
    assert squares["2"] == 4
    squares.forget()
    assert squares["2"] == 4
    assert made == ["2", "2"]


def test_an_unknown_name_makes_nothing(lazy):
    squares, made = lazy
    with pytest.raises(KeyError, match="4"):
        squares["4"]
    assert squares.get("4") is None
    assert made == []


def test_a_record_that_cannot_be_made_is_tried_again():
    tries = []

    def make(name):
        tries.append(name)
        if len(tries) == 1:
            raise OSError("not now")
        return name.upper()

    records = Lazy(["a"], make)
    with pytest.raises(OSError, match="not now"):
        records["a"]
    assert records["a"] == "A"


def test_looking_at_one_body_makes_no_other():
    model = mechanisms.full(4, bodies=3).model()
    result = ps.simulate(model, h=0.01, t_end=0.1)
    before = result.observation
    first = next(iter(before.bodies))
    assert result.position(first).shape == (11, 3)
    assert list(before.bodies._made) == [first]
    assert not before.joints._made
    assert not before.whole._made
    assert not result.states._made
    assert result.angular_momentum is result.angular_momentum
    assert list(before.whole._made) == ["angular_momentum"]


def test_an_observation_is_made_of_plain_mappings():
    assert dict(Observation().whole) == {}
    seen = Observation(whole={"constraint_error": np.zeros(3)})
    assert seen.whole["constraint_error"].shape == (3,)


@pytest.mark.parametrize("how", [copy.deepcopy, lambda r: pickle.loads(pickle.dumps(r))])
def test_a_result_can_be_copied_and_sent(how):
    result = ps.simulate(mechanisms.full(4, bodies=2).model(), h=0.01, t_end=0.1)
    other = how(result)
    assert other.summary() == result.summary()
    for body in result.observation.bodies:
        assert np.array_equal(other.rotation(body), result.rotation(body))
    for joint in result.observation.joints:
        assert np.array_equal(other.reaction(joint).torque, result.reaction(joint).torque)
    for state in result.states:
        assert np.array_equal(other[state], result[state])
    for port in result.ports:
        assert np.array_equal(other.port(port).power, result.port(port).power)


def test_saved_numbers_cannot_be_changed(result):
    for array in (result.time, result.energy, result["p"], result.port("push").u):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
