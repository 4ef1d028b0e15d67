"""A port carries power: its units multiply to watts, and its input is checked when it is read."""

import numpy as np
import pytest

import poinsot as ps
from poinsot import ph


def test_effort_times_flow_must_be_power():
    with pytest.raises(ps.InputError) as error:
        ph.Port("motor", effort="V", flow="m/s")
    assert "'motor'" in str(error.value)
    assert "not a power in W" in str(error.value)


@pytest.mark.parametrize(
    ("effort", "flow"), [("N", "m/s"), ("N m", "rad/s"), ("V", "A"), ("Pa", "m^3/s")]
)
def test_every_physical_domain_has_its_pair(effort, flow):
    port = ph.Port("p", effort=effort, flow=flow)
    assert (port.u_unit, port.y_unit) == (effort, flow)
    swapped = port.swapped
    assert (swapped.u_unit, swapped.y_unit) == (flow, effort)
    assert swapped.swapped == port


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name": ""}, "needs a name"),
        ({"name": 1}, "a port needs a name .a string., got 1"),
        ({"name": "p", "size": 0}, "port 'p': size is 0"),
        ({"name": "p", "input": "force"}, "port 'p': input is 'force', not 'effort' or 'flow'"),
        ({"name": "p", "effort": "N"}, "port 'p': give the units of both"),
    ],
)
def test_what_is_no_port_is_refused(arguments, message):
    with pytest.raises(ps.InputError, match=message):
        ph.Port(**arguments)


def test_an_open_port_has_input_zero_and_a_fed_one_its_signal():
    port = ph.Port("p", 2)
    assert port.status == "open"
    assert list(port.u(1.0)) == [0, 0]
    fed = ph.Port("p", 2, signal=lambda t: [t, 2 * t])
    assert fed.status == "fed"
    assert list(fed.u(3.0)) == [3, 6]
    assert fed.swapped.status == "open"


def test_an_input_of_wrong_shape_names_port_time_and_shape():
    port = ph.Port("p", 2, signal=lambda t: [1, 2, 3])
    with pytest.raises(ps.InputError, match=r"port 'p': the input at t = 0.5 s has shape \(3,\)"):
        port.u(0.5)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_an_input_that_is_not_finite_names_port_and_time(value):
    port = ph.Port("p", signal=lambda t: value)
    with pytest.raises(ps.InputError, match=r"port 'p': the input at t = 0.5 s is .* not finite"):
        port.u(0.5)


def test_a_port_prints_its_size_and_units():
    assert str(ph.Port("p", 2, effort="V", flow="A")) == "'p' (size 2, u in V, y in A)"
    assert str(ph.Port("p")) == "'p' (size 1)"
