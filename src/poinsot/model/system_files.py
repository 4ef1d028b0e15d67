"""Systems and connections of a model, from their entries in a file and back."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from poinsot.io import systems as entries
from poinsot.ph import connections
from poinsot.ph.connections import Connection, Coupling, Junction, Resistor, Swap
from poinsot.ph.interconnect import feed
from poinsot.ph.linear import LinearSystem, linear
from poinsot.ph.matrices import Matrix, dense
from poinsot.ph.ports import Port
from poinsot.ph.system import PHSystem, State

COUPLINGS: dict[str, type[Coupling]] = {
    "gyrator": connections.Gyrator,
    "transformer": connections.Transformer,
}


def system_of(name: str, entry: entries.Systems, signal: Callable[[Any], Any]) -> PHSystem:
    """Return the system of an entry; `signal` makes inputs of what stands in the file."""
    part = entry.part
    assert isinstance(part, entries.Linear)
    system: PHSystem = linear(
        name,
        states=[State(state, one.size, one.unit) for state, one in part.states.items()],
        J=part.J,
        Q=part.Q,
        R=part.R,
        E=part.E,
        B=part.B,
        ports=[Port(p, one.size, one.u_unit, one.y_unit) for p, one in part.ports.items()],
    )
    for port, one in part.ports.items():
        if one.value is not None:
            system = feed(system, port, signal(one.value))
    return system


def connection_of(entry: entries.Connections) -> Connection:
    """Return the connection of an entry."""
    part = entry.part
    if isinstance(part, entries.Coupling):
        return COUPLINGS[entry.kind](*part.ports, C=part.C, unit=part.unit)
    if isinstance(part, entries.Junction):
        return Junction(tuple(part.ports), part.common)
    if isinstance(part, entries.Resistor):
        return Resistor(part.port, part.D)
    assert isinstance(part, entries.Swap)
    return Swap(part.port)


class UnwritableError(Exception):
    """Why a part cannot be written."""


def describe_system(
    name: str, system: PHSystem, inputs: Mapping[str, Any], value: Callable[[Any], Any]
) -> dict[str, Any]:
    """Return the entry of a system; `value` writes what is put into its ports."""
    if not isinstance(system, LinearSystem):
        raise UnwritableError(f"a {type(system).__name__} cannot be represented in a model file")
    short = len(name) + 1
    written: dict[str, Any] = {
        "states": {
            state.name[short:]: _given(size=state.size, unit=state.unit) for state in system.states
        },
        "J": _rows(system.matrix_J),
        "R": _rows(system.matrix_R),
        "Q": _rows(system.matrix_Q),
        "E": _rows(system.matrix_E),
    }
    if system.ports:
        written["B"] = _rows(system.matrix_B)
        ports = {}
        for port in system.ports:
            given = inputs.get(port.name, port.signal)
            entry = _given(size=port.size, u_unit=port.u_unit, y_unit=port.y_unit)
            ports[port.name[short:]] = entry | ({} if given is None else {"value": value(given)})
        written["ports"] = ports
    return {"linear": written}


def describe_connection(connection: Connection) -> dict[str, Any]:
    """Return the entry of a connection."""
    match connection:
        case Coupling():
            kind = next(k for k, known in COUPLINGS.items() if isinstance(connection, known))
            if callable(connection.C):
                raise UnwritableError("C is a Python function")
            entry: dict[str, Any] = {"ports": [connection.a, connection.b]}
            if connection.C is not None:
                entry["C"] = np.asarray(connection.C, dtype=float).tolist()
            return {kind: entry | ({} if connection.unit == "1" else {"unit": connection.unit})}
        case Junction():
            return {"junction": {"ports": list(connection.joined), "common": connection.common}}
        case Resistor() if connection.law is None:
            D = np.asarray(connection.D, dtype=float).tolist()
            return {"resistor": {"port": connection.port, "D": D}}
        case Swap():
            return {"swap": {"port": connection.port}}
    raise UnwritableError(
        f"a {type(connection).__name__} of functions cannot be represented in a model file"
    )


def _rows(A: Matrix) -> list[list[float]]:
    rows: list[list[float]] = dense(A).tolist()
    return rows


def _given(**values: Any) -> dict[str, Any]:
    """Return what is not left out; a size of 1 is."""
    return {k: v for k, v in values.items() if v is not None and (k, v) != ("size", 1)}
