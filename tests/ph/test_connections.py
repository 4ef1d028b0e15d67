"""Each connection is the relation that its paper gives, loses nothing, and checks its ports."""

import numpy as np
import pytest
from parts import mass, oscillator, spring

import poinsot as ps
from poinsot import ph
from poinsot.ph.connections import Connection

C = np.array([[1.0, 2.0, -1.0], [0.5, 0.0, 3.0]])
LAWS = {
    "transformer": (ph.Transformer("a", "b", C), (2, 3)),
    "gyrator": (ph.Gyrator("a", "b", C), (2, 3)),
    "junction, common output": (ph.Junction(("a", "b", "c")), (2, 2, 2)),
    "junction, common input": (ph.Junction(("a", "b", "c"), "input"), (2, 2, 2)),
    "swap": (ph.Swap("a"), (2,)),
}


@pytest.mark.parametrize("kind", LAWS)
def test_a_connection_exchanges_power_and_creates_none(kind):
    law, sizes = LAWS[kind]
    K, N = law.matrices(law.coupling(sizes, ()), sizes)
    assert np.array_equal(K, -K.T)
    # u = -K y + N lam with N^T y = 0 has u·y = 0; all y that the law allows:
    random = np.random.default_rng(0)
    y = random.standard_normal(sum(sizes))
    if N.size and kind != "swap":
        y -= N @ np.linalg.lstsq(N, y)[0]
    u = N @ random.standard_normal(N.shape[1]) - K @ y
    if kind != "swap":
        assert abs(u @ y) <= 1e-13 * np.linalg.norm(u) * np.linalg.norm(y)


def test_transformer_is_u1_minus_C_u2_and_y2_C_transposed_y1():
    law, sizes = LAWS["transformer"]
    K, N = law.matrices(C, sizes)
    u2 = np.array([1.0, 2.0, 3.0])
    assert not K.any()
    assert np.array_equal(N @ u2, np.concatenate([-C @ u2, u2]))
    y1 = np.array([1.0, -2.0])
    assert np.array_equal(N.T @ np.concatenate([y1, C.T @ y1]), np.zeros(3))


def test_gyrator_is_u1_minus_C_y2_and_u2_C_transposed_y1():
    law, sizes = LAWS["gyrator"]
    K, N = law.matrices(C, sizes)
    y1, y2 = np.array([1.0, -2.0]), np.array([1.0, 2.0, 3.0])
    assert N.shape == (5, 0)
    assert np.array_equal(-K @ np.concatenate([y1, y2]), np.concatenate([-C @ y2, C.T @ y1]))


# -- sizes and units --------------------------------------------------------------------------


def both_named(error, *names):
    return all(f"'{name}'" in str(error.value) for name in names)


@pytest.mark.parametrize("connection", [ph.Transformer, ph.Gyrator])
def test_a_mismatch_of_size_names_both_ports(connection):
    a, b = ph.Port("a", 2), ph.Port("b", 3)
    with pytest.raises(
        ps.InputError, match=r"size 2.*size 3.*differ in size; give the matrix C"
    ) as error:
        connection("a", "b").check((a, b))
    assert both_named(error, "a", "b")
    with pytest.raises(ps.InputError, match=r"'a' - 'b': C: shape \(3, 2\), expected \(2, 3\)"):
        connection("a", "b", np.ones((3, 2))).check((a, b))
    with pytest.raises(ps.InputError, match="'a' - 'b': C: contains NaN"):
        connection("a", "b", np.nan * C).check((a, b))


@pytest.mark.parametrize(
    ("connection", "a", "b", "needed"),
    [
        (ph.Transformer, ("N", "m/s"), ("N m", "rad/s"), "m^-1"),
        (ph.Gyrator, ("V", "A"), ("N m", "rad/s"), "m^2 kg s^-2 A^-1"),
        (ph.Gyrator, ("N", "m/s"), ("N", "m/s"), "kg s^-1"),
    ],
)
def test_a_mismatch_of_unit_names_both_ports_and_the_unit_of_C(connection, a, b, needed):
    ports = [ph.Port(n, effort=e, flow=f) for n, (e, f) in (("left", a), ("right", b))]
    with pytest.raises(ps.InputError) as error:
        connection("left", "right", 1.0).check(ports)
    assert both_named(error, "left", "right")
    assert f"need C in {needed}" in str(error.value)
    connection("left", "right", 1.0, unit=needed).check(ports)


@pytest.mark.parametrize(
    "ports",
    [
        (ph.Port("a", effort="N", flow="m/s"), ph.Port("b", effort="V", flow="A")),
        (ph.Port("a", 2), ph.Port("b", 3)),
    ],
    ids=["unit", "size"],
)
def test_a_junction_of_unlike_ports_names_both(ports):
    with pytest.raises(ps.InputError, match="do not have matching sizes and units") as error:
        ph.Junction(("a", "b")).check(ports)
    assert both_named(error, "a", "b")


def test_a_junction_needs_two_ports_and_a_known_kind():
    with pytest.raises(ps.InputError, match="at least two ports"):
        ph.Junction(("a",)).check((ph.Port("a"),))
    with pytest.raises(ps.InputError, match="common is 'effort', not 'output' or 'input'"):
        ph.Junction(("a", "b"), "effort").check((ph.Port("a"), ph.Port("b")))


# -- resistors --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("D", "law"),
    [(-1.0, None), ([[1, 2], [2, 1]], None), ([[1, 1], [0, 1]], None), (None, lambda y: -y)],
    ids=["negative", "indefinite", "not symmetric", "law"],
)
def test_a_resistor_that_creates_energy_is_refused(D, law):
    with pytest.raises(ps.StructureError, match=r"resistor at 'a': .* energy"):
        ph.Resistor("a", D, law=law).check((ph.Port("a", 2),))


def test_a_resistor_needs_a_law_of_the_right_size():
    with pytest.raises(ps.InputError, match="resistor at 'a': give D, or a law"):
        ph.Resistor("a").check((ph.Port("a"),))
    with pytest.raises(ps.InputError, match="law returns 1 values, expected 2"):
        ph.Resistor("a", law=lambda y: y[:1]).check((ph.Port("a", 2),))


def test_dC_of_wrong_shape_is_named():
    law = ph.Gyrator("mass.force", "spring.end", lambda a, b: [[1.0]], lambda a, b: np.zeros(2))
    system = ph.interconnect(mass(), spring(), connections=law)
    with pytest.raises(ps.InputError, match=r"dC has shape \(2,\), expected \(1, 1, 2\)"):
        system.dflow(np.ones(2), np.ones(2), np.zeros(0))


def test_a_new_kind_of_connection_is_a_subclass():
    class Mirror(Connection):
        ports = ("oscillator.force",)

        def check(self, ports):
            pass

        def matrices(self, C, sizes):
            return np.zeros((1, 1)), np.zeros((1, 0))

    system = ph.interconnect(oscillator(), connections=Mirror())
    assert np.array_equal(system.J(np.zeros(2)), oscillator().J(np.zeros(2)))
