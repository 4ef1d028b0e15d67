"""Interconnection: systems in, a system of the same class out."""

import warnings
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from poinsot.errors import InputError, MissingDerivativeWarning, did_you_mean
from poinsot.ph.connections import Connection, Coupling, Gyrator, Resistor, Swap, Transformer
from poinsot.ph.interconnection import Interconnection, Link, Place
from poinsot.ph.ports import Port
from poinsot.ph.signals import Signal, as_signal
from poinsot.ph.system import PHSystem, State


def interconnect(
    *systems: PHSystem,
    connections: Connection | Sequence[Connection],
    name: str | None = None,
) -> Interconnection:
    """Join systems at their ports; the result is a system with the ports that are left.

    States and ports keep their names, so these must be unique; `system.prefixed("left")` renames.
    A transformer or a junction adds a multiplier state `lambda(port, ...)`.

    Parameters
    ----------
    *systems : PHSystem
        One or more; a single system can be joined with itself.
    connections : Connection or sequence of Connection
        Transformer, Gyrator, Junction, Resistor, Swap; each port is used at most once.
    name : str
        Name of the result; default: the names of the systems joined by `+`.
    """
    if not systems:
        raise InputError("interconnect: no system given")
    for system in systems:
        if not isinstance(system, PHSystem):
            raise InputError(f"interconnect: expected systems, one by one, got {system!r}")
    laws = (connections,) if isinstance(connections, Connection) else tuple(connections)
    for law in laws:
        if not isinstance(law, Connection):
            raise InputError(f"interconnect: expected a connection such as Gyrator, got {law!r}")
    places: dict[str, tuple[Place, Port]] = {}
    for index, system in enumerate(systems):
        for port in system.ports:
            if port.name in places:
                other = systems[places[port.name][0].part].name
                raise InputError(
                    f"interconnect: systems '{other}' and '{system.name}' both have a port "
                    f"'{port.name}'; rename one, e.g. by system.prefixed('left')"
                )
            places[port.name] = (Place(index, system.port_slices[port.name]), port)
    joined_names: dict[str, Connection] = {}
    links: list[Link] = []
    multipliers: list[State] = []
    exposed: list[Port] = []
    start = sum(system.n for system in systems)
    for law in laws:
        for port_name in law.ports:
            if port_name not in places:
                raise InputError(
                    f"interconnect: no open port '{port_name}'; {did_you_mean(port_name, places)}"
                )
            if port_name in joined_names:
                raise InputError(f"interconnect: port '{port_name}' is connected twice")
            if places[port_name][1].status == "fed":
                raise InputError(f"interconnect: port '{port_name}' is closed by an input already")
            joined_names[port_name] = law
        joined = tuple(places[port_name][1] for port_name in law.ports)
        law.check(joined)
        _warn_missing(law)
        sizes = [port.size for port in joined]
        C = np.zeros((sizes[0], sizes[1])) if isinstance(law, Coupling) else None
        count = law.matrices(C, sizes)[1].shape[1]
        rows = slice(start, start + count)
        links.append(Link(law, tuple(places[p][0] for p in law.ports), joined, rows))
        if count:
            taken = {state.name for system in systems for state in system.states}
            label = _unused(f"lambda({', '.join(law.ports)})", taken)
            multipliers.append(State(label, count, joined[-1].u_unit))
        new_port = law.exposed(joined)
        if new_port is not None:
            exposed.append(new_port)
        start += count
    left = [port for port in places if port not in joined_names]
    # A swapped port keeps its name outside; inside, it lives on under the name of its input.
    known = {port.name for system in systems for port in system.connected}
    inner_names = {port.name: _unused(f"{port.name} (inside)", known) for port in exposed}
    used = [port for system in systems for port in system.connected] + [
        replace(port, name=inner_names.get(port.name, port.name))
        for link in links
        for port in link.joined
    ]
    return Interconnection(
        name=name or "+".join(system.name for system in systems),
        states=(*(state for system in systems for state in system.states), *multipliers),
        ports=(*(places[port][1] for port in left), *exposed),
        parts=tuple(systems),
        links=tuple(links),
        outer=tuple(places[port][0] for port in left),
        used=tuple(used),
    )


def feed(system: PHSystem, port: str, signal: Signal | ArrayLike) -> PHSystem:
    """Close a port by an input: a function of time [s], or a constant."""
    target = system.port(port)
    if target.by_law:
        raise InputError(f"port '{port}' is closed by a law already; leave that out to feed it")
    fed = replace(target, signal=as_signal(signal))
    if not callable(signal):
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

    Another system is joined at its port `by` (its only one by default) by a gyrator, u = -y_2,
    u_2 = y, which suits a spring on a mass; pass `kind=Transformer` to tie the outputs instead.
    """
    system.port(port)
    if not isinstance(element, PHSystem):
        return interconnect(system, connections=Resistor(port, element), name=system.name)
    if by is None:
        if len(element.ports) != 1:
            raise InputError(
                f"close '{port}': system '{element.name}' has {len(element.ports)} ports; "
                "say which one by by='...'"
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


def _warn_missing(law: Connection) -> None:
    if isinstance(law, Coupling) and callable(law.C) and law.dC is None:
        warnings.warn(
            f"{law.label}: dC not given, computed by finite differences; pass it for speed and "
            "accuracy",
            MissingDerivativeWarning,
            stacklevel=3,
        )
