"""Interconnection: systems in, a system of the same class out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError, did_you_mean
from poinsot.ph.connections import Connection, Coupling, Gyrator, Resistor, Swap, Transformer
from poinsot.ph.derivatives import warn_missing
from poinsot.ph.interconnection import Interconnection
from poinsot.ph.joined import Link, Place, slices
from poinsot.ph.ports import Port
from poinsot.ph.signals import Constant, Signal, as_signal
from poinsot.ph.system import PHSystem, State


def interconnect(
    *systems: PHSystem,
    connections: Connection | Sequence[Connection],
    name: str | None = None,
) -> Interconnection:
    """Connect systems at their ports to one system with the remaining ports.

    States and ports keep their names, which must be unique; `system.prefixed("left")` renames. A
    transformer or a junction adds a multiplier state `lambda(port, ...)`.

    Parameters
    ----------
    *systems : PHSystem
        One or more systems; ports of a single system can be connected with each other.
    connections : Connection or sequence of Connection
        `Transformer`, `Gyrator`, `Junction`, `Resistor`, `Swap`; each port is used at most once.
    name : str
        Name of the result. Default: the names of the systems, joined by `+`.
    """
    if not systems:
        raise InputError("interconnect: give at least one system")
    for system in systems:
        if not isinstance(system, PHSystem):
            raise InputError(f"interconnect: expected systems, one by one, got {system!r}")
    laws = (connections,) if isinstance(connections, Connection) else tuple(connections)
    for law in laws:
        if not isinstance(law, Connection):
            raise InputError(f"interconnect: expected a connection such as Gyrator, got {law!r}")
    name = name or "+".join(system.name for system in systems)
    systems, laws, open_ports = _taken_apart(systems, laws)
    places: dict[str, Place] = {}
    for index, (system, inlet) in enumerate(
        zip(systems, slices(system.m for system in systems), strict=True)
    ):
        inputs = np.arange(inlet.start, inlet.stop)
        for port in system.ports:
            if port.name in places:
                other = systems[places[port.name].owner].name
                raise InputError(
                    f"interconnect: systems '{other}' and '{system.name}' both have a port "
                    f"'{port.name}'; rename one, e.g. by system.prefixed('left')"
                )
            inlet_of = inputs[system.port_slices[port.name]]
            places[port.name] = Place(index, open_ports.get(port.name, port), inlet_of)
    taken: list[str] = []
    links: list[Link] = []
    multipliers: list[State] = []
    exposed: dict[Port, NDArray[np.intp]] = {}
    opened: list[Port] = []
    width, height = 0, sum(system.n for system in systems)
    for law in laws:
        for port_name in law.ports:
            if port_name not in places:
                raise InputError(
                    f"interconnect: no open port '{port_name}'; {did_you_mean(port_name, places)}"
                )
            if port_name in taken:
                raise InputError(f"interconnect: port '{port_name}' is connected twice")
            if places[port_name].port.driven:
                raise InputError(
                    f"interconnect: port '{port_name}' is a drive with a prescribed motion; "
                    "connect a JointPort instead"
                )
            if places[port_name].port.status == "fed":
                raise InputError(
                    f"interconnect: port '{port_name}' is closed by an input already; leave out "
                    "the input"
                )
            taken.append(port_name)
        here = tuple(places[port_name] for port_name in law.ports)
        joined = [place.port for place in here]
        law.check(joined)
        if isinstance(law, Coupling) and callable(law.C) and law.dC is None:
            warn_missing(law.label, ["dC"], stacklevel=2)
        sizes = [port.size for port in joined]
        C = np.zeros((sizes[0], sizes[1])) if isinstance(law, Coupling) else None
        count = law.matrices(C, sizes)[1].shape[1]
        free, first = law.left_open(joined), sum(port.size for port in opened)
        opened += [] if free is None else [free]
        link = Link(
            law,
            here,
            slice(width, width + sum(sizes)),
            slice(height, height + count),
            slice(first, first + (0 if free is None else free.size)),
        )
        links.append(link)
        width, height = link.inputs.stop, link.rows.stop
        if count:
            known = {state.name for system in systems for state in system.states}
            label = _unused(f"lambda({', '.join(law.ports)})", known)
            multipliers.append(State(label, count, joined[-1].u_unit))
        new_port = law.exposed(joined)
        if new_port is not None:
            exposed[new_port] = np.arange(link.rows.start, link.rows.stop)
    left = [place for port_name, place in places.items() if port_name not in taken]
    # A swapped port keeps its name outside; inside, it lives on under the name of its input.
    used = [port for system in systems for port in system.connected]
    known = {port.name for port in used}
    inner_names = {port.name: _unused(f"{port.name} (inside)", known) for port in exposed}
    used += [replace(places[port].port, name=inner_names.get(port, port)) for port in taken]
    return Interconnection(
        name=name,
        states=(*(state for system in systems for state in system.states), *multipliers),
        ports=(*(place.port for place in left), *exposed, *opened),
        parts=tuple(systems),
        links=tuple(links),
        joined=_all(places[port_name].inputs for port_name in taken),
        outer=_all(place.inputs for place in left),
        exposed=_all(exposed.values()),
        used=tuple(used),
    )


def _taken_apart(
    systems: Sequence[PHSystem], laws: Sequence[Connection]
) -> tuple[tuple[PHSystem, ...], tuple[Connection, ...], dict[str, Port]]:
    """Return systems and connections, with the parts of an interconnection that has a host.

    So that all that is joined to a mechanism, step by step, are networks at its ports. Ports that
    such a whole left open are as they were there, by name.
    """
    parts: list[PHSystem] = []
    inner: list[Connection] = []
    left: dict[str, Port] = {}
    for system in systems:
        if isinstance(system, Interconnection) and system.hosting and not system.exposed.size:
            parts += system.parts
            inner += [link.connection for link in system.links]
            left |= {port.name: port for port in system.ports}
        else:
            parts.append(system)
    return tuple(parts), (*inner, *laws), left


def feed(system: PHSystem, port: str, signal: Signal | ArrayLike) -> PHSystem:
    """Close a port by an input: a function of time [s], a formula in t, or a constant."""
    target = system.port(port)
    if target.by_law:
        raise InputError(
            f"port '{port}' is closed by a law already; remove the law, or leave out the input"
        )
    if target.driven:
        raise InputError(
            f"port '{port}' is a drive with a prescribed motion; change that motion, or use a "
            "JointPort for a force"
        )
    try:
        fed = replace(target, signal=as_signal(signal))
    except InputError as error:
        raise InputError(f"port '{port}': {error}") from None
    if isinstance(fed.signal, Constant):
        fed.u(0.0)
    return replace(system, ports=tuple(fed if p is target else p for p in system.ports))


def close(
    system: PHSystem,
    port: str,
    element: PHSystem | ArrayLike,
    *,
    by: str | None = None,
    kind: type[Gyrator] | type[Transformer] = Gyrator,
) -> Interconnection:
    """Close a port by a resistor (a number or matrix D, u = -D y) or by another system.

    Parameters
    ----------
    by : str
        Port of the other system. Default: its only one.
    kind : type
        Connection to the other system. Default: a gyrator, u = -y_2, u_2 = y, as for a spring on a
        mass; `Transformer` ties the outputs instead.
    """
    system.port(port)
    if not isinstance(element, PHSystem):
        return interconnect(system, connections=Resistor(port, element), name=system.name)
    if by is None:
        if len(element.ports) != 1:
            raise InputError(
                f"close '{port}': system '{element.name}' has {len(element.ports)} ports; choose "
                "one by by='...'"
            )
        by = element.ports[0].name
    return interconnect(system, element, connections=kind(port, by))


def swap(system: PHSystem, port: str) -> Interconnection:
    """Exchange input and output of a port [BAPM21, eq. (43)]; the port keeps its name."""
    system.port(port)
    return interconnect(system, connections=Swap(port), name=system.name)


def _unused(name: str, taken: set[str]) -> str:
    """Return the name, primed as often as it takes to be new."""
    while name in taken:
        name += "'"
    return name


def _all(places: Iterable[NDArray[np.intp]]) -> NDArray[np.intp]:
    return np.concatenate([np.arange(0), *places])
