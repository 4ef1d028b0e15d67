"""Two systems in redundant coordinates joined at their ports: again such a system."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from poinsot.errors import InputError
from poinsot.ph.connections import Transformer
from poinsot.systems.livens.smooth import Smooth, placed
from poinsot.systems.redundant.laws import Laws, Outlet

if TYPE_CHECKING:
    from poinsot.systems.redundant.system import RedundantSystem

Places = NDArray[np.intp]


def require_ports(
    a: "RedundantSystem", b: "RedundantSystem", ports: Mapping[str, str], positions: bool
) -> None:
    """Refuse ports that do not fit, are fed, or whose positions are asked for and unknown."""
    if not isinstance(ports, Mapping) or not all(
        isinstance(port, str) for pair in ports.items() for port in pair
    ):
        raise InputError(
            f"system '{a.name}': ports is {ports!r}; give those of '{a.name}' with those of "
            f"'{b.name}', e.g. {{'end': 'start'}}"
        )
    if not ports:
        raise InputError(f"system '{a.name}': give at least one port to connect with '{b.name}'")
    twice = set(_parts(a)) & set(_parts(b))
    if twice:
        raise InputError(
            f"system '{a.name}': connected with '{b.name}', it has two parts '{min(twice)}'; "
            "rename "
            "one, e.g. by system.prefixed('left')"
        )
    for ours, theirs in ports.items():
        pair = a.port(ours), b.port(theirs)
        for system, port in zip((a, b), pair, strict=True):
            if port.signal is not None or port.by_law:
                raise InputError(
                    f"port '{port.name}' has an input; leave it out to connect the port"
                )
            if positions and port.name not in system.laws.positions:
                raise InputError(
                    f"system '{system.name}': port '{port.name}' has no position; define it by "
                    f"positions={{'{port.name}': ...}}, or connect at level='velocity'"
                )
        if pair[0].size != pair[1].size:
            raise InputError(
                f"port '{ours}' has the size {pair[0].size}, and '{theirs}' {pair[1].size}; "
                "connect ports of equal size"
            )
        Transformer(ours, theirs).check(pair)


def join(
    a: "RedundantSystem", b: "RedundantSystem", ports: Mapping[str, str], positions: bool
) -> Laws:
    r"""Return the laws of both, tied at some ports [BHRS25, sec. 6].

    As velocities: the rows :math:`B_{c1}^\top w_1 - B_{c2}^\top w_2 = 0` come after those of both
    A. As positions: the rows :math:`p_1(\zeta_1) - p_2(\zeta_2) = 0` come after those of both c
    [BHRS25, rem. 4]. Their multipliers are the forces from one system to the other; the other
    columns of B stay.
    """
    A, B = a.laws, b.laws
    n, k, rows = A.n + B.n, A.k + B.k, A.n_A + B.n_A
    zeta_a, zeta_b = np.arange(A.n), np.arange(A.n, n)
    w_a, w_b = np.arange(A.k), np.arange(A.k, k)
    both_a, both_b = np.r_[zeta_a, n + w_a], np.r_[zeta_b, n + w_b]

    def both(of_a: Sequence[Smooth], of_b: Sequence[Smooth]) -> list[Smooth]:
        return [*(F.on(zeta_a, n) for F in of_a), *(F.on(zeta_b, n) for F in of_b)]

    B_a, B_b = A.B.on(zeta_a, n), B.B.on(zeta_b, n)
    tied_a, free_a = _columns(a, ports.keys())
    tied_b, free_b = _columns(b, ports.values())
    names = _ties(a, b, ports)
    constraints = both(A.constraints, B.constraints)
    rows_A = [(0, 0, A.A.on(zeta_a, n)), (A.n_A, A.k, B.A.on(zeta_b, n))]
    if positions:
        for ours, theirs in ports.items():
            here, there = A.positions[ours], B.positions[theirs]
            constraints.append(here.on(zeta_a, n) - there.on(zeta_b, n))
    else:
        rows_A += [
            (rows, 0, B_a.columns(tied_a).transposed()),
            (rows, A.k, B_b.columns(tied_b).transposed(-1.0)),
        ]

    return Laws(
        coordinates=_labels(a, b, A.coordinates, B.coordinates),
        velocities=_labels(a, b, A.velocities, B.velocities),
        M=scipy.linalg.block_diag(A.M, B.M),
        potentials=both(A.potentials, B.potentials),
        constraints=constraints,
        Z=placed((n, k), [(0, 0, A.Z.on(zeta_a, n)), (A.n, A.k, B.Z.on(zeta_b, n))]),
        G=placed((k, k), [(0, 0, A.G.on(w_a, k)), (A.k, A.k, B.G.on(w_b, k))]),
        A=placed((rows + (0 if positions else len(names)), k), rows_A),
        B=placed(
            (k, free_a.size + free_b.size),
            [(0, 0, B_a.columns(free_a)), (A.k, free_a.size, B_b.columns(free_b))],
        ),
        dissipation=placed(
            (k, 1),
            [(0, 0, A.dissipation.on(both_a, n + k)), (A.k, 0, B.dissipation.on(both_b, n + k))],
        ),
        skew=A.skew and B.skew,
        names_c=_labels(a, b, A.names_c, B.names_c) + (names if positions else []),
        names_A=_labels(a, b, A.names_A, B.names_A) + ([] if positions else names),
        positions={
            **{port: p.on(zeta_a, n) for port, p in A.positions.items() if port not in ports},
            **{
                port: p.on(zeta_b, n)
                for port, p in B.positions.items()
                if port not in ports.values()
            },
        },
        domain={
            **{_own(a, edge): F.on(zeta_a, n) for edge, F in A.domain.items()},
            **{_own(b, edge): F.on(zeta_b, n) for edge, F in B.domain.items()},
        },
        parts=[*_parts(a), *_parts(b)],
        tied=[
            Outlet(
                outlet.port,
                outlet.position.on(zeta, n),
                placed((k, outlet.B.shape[1]), [(at, 0, outlet.B.on(zeta, n))]),
            )
            for system, joined, zeta, at in (
                (a, ports.keys(), zeta_a, 0),
                (b, ports.values(), zeta_b, A.k),
            )
            for outlet in _tied(system, joined if positions else ())
        ],
    )


def prefixed(laws: Laws, prefix: str) -> Laws:
    """Return the laws of a system whose ports and parts have a prefix in their names."""

    def own(labels: Iterable[str]) -> list[str]:
        if not laws.parts:
            return list(labels)
        return [" = ".join(f"{prefix}.{side}" for side in label.split(" = ")) for label in labels]

    return replace(
        laws,
        coordinates=own(laws.coordinates),
        velocities=own(laws.velocities),
        names_c=own(laws.names_c),
        names_A=own(laws.names_A),
        positions={f"{prefix}.{port}": p for port, p in laws.positions.items()},
        domain=dict(zip(own(laws.domain), laws.domain.values(), strict=True)),
        parts=own(laws.parts),
        tied=[replace(outlet, port=f"{prefix}.{outlet.port}") for outlet in laws.tied],
    )


def units(a: "RedundantSystem", b: "RedundantSystem") -> dict[str, str]:
    """Return the units of zeta and w on which both agree."""
    of_both = zip(("zeta", "w"), a.states, b.states, strict=False)
    return {
        key: one.unit
        for key, one, other in of_both
        if one.unit is not None and one.unit == other.unit
    }


def _parts(system: "RedundantSystem") -> Sequence[str]:
    """Return the names of the systems that it was joined from."""
    return system.laws.parts or [system.name]


def _tied(system: "RedundantSystem", ports: Iterable[str]) -> list[Outlet]:
    """Return what is tied already, and what these ports tie."""
    open_ = {outlet.port: outlet for outlet in system.laws.outlets(system.ports)}
    new = [replace(open_[port], port=_own(system, port)) for port in ports]
    return [*system.laws.tied, *new]


def _columns(system: "RedundantSystem", ports: Iterable[str]) -> tuple[Places, Places]:
    """Return where the inputs of some ports are, and all others."""
    inputs = np.arange(system.m)
    tied = np.concatenate([inputs[system.port_slices[port]] for port in ports])
    return tied, np.setdiff1d(inputs, tied)


def _own(system: "RedundantSystem", label: str) -> str:
    """Return a label with the name of the system, which labels of joined systems have already."""
    return label if system.laws.parts else f"{system.name}.{label}"


def _labels(
    a: "RedundantSystem", b: "RedundantSystem", of_a: Sequence[str], of_b: Sequence[str]
) -> list[str]:
    return [_own(a, label) for label in of_a] + [_own(b, label) for label in of_b]


def _ties(a: "RedundantSystem", b: "RedundantSystem", ports: Mapping[str, str]) -> list[str]:
    """Return a name for every tie, e.g. `crank.C[0] = rod.C[0]`."""
    return [
        f"{_own(a, ours)}[{i}] = {_own(b, theirs)}[{i}]"
        for ours, theirs in ports.items()
        for i in range(a.port(ours).size)
    ]
