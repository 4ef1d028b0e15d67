"""Elastic bodies in the compiled engine: their tables and their nodes.

The bodies of a model are followed by the elastic coordinates of its elastic bodies in groups of
three; each group is a body of the engine without rotation.
"""

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.carried_frames import place_carried
from poinsot.bodies.elastic_table import WIDTH, Elastics
from poinsot.bodies.flexibility import Flexibility
from poinsot.bodies.flexible import Elastic
from poinsot.bodies.in_floating_frames import (
    accept_elastic,
    begin_elastic,
    elastic_bodies,
    elastic_energy,
    end_elastic,
)
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.tables import Part
from poinsot.parts.family import Assembly, Family, Indices, Kernels, Real, index, real
from poinsot.ph.matrices import Vector

#: Columns of a group, and pairs of axes in the order of its integrals.
THREE = 3
#: What a body has a range of, in the order of its places.
BEGIN = ("groups", "pairs", "fields", "carried", "strains")
PAIRS_OF_AXES = ((0, 0), (1, 1), (2, 2), (1, 2), (2, 0), (0, 1))


class _Matrices(NamedTuple):
    """Matrices of an elastic body in groups of three coordinates, zeros where there is none."""

    body: Elastic
    first: int
    pairs: Indices
    tiles: Real
    fields: Real
    groups: Real
    links: tuple[Indices, Real]


def groups_of(elastic: Sequence[Elastic]) -> list[int]:
    """Return how many groups of coordinates each elastic body has."""
    return [len(body.data.groups) for body in elastic]


class ElasticBodies(Family):
    """Elastic bodies with the frames that they carry."""

    Table: ClassVar = Elastics
    kernels: ClassVar = Kernels(
        elastic_bodies,
        begin=begin_elastic,
        energy=elastic_energy,
        accept=accept_elastic,
        place=place_carried,
        end=end_elastic,
    )
    reversible: ClassVar = False
    costly: ClassVar = True

    def __init__(self, assembly: Assembly) -> None:
        self.elastic = list(assembly.elastic)
        counts = groups_of(self.elastic)
        # They come last.
        first = list(accumulate(counts, initial=assembly.count - sum(counts)))
        self.first, self.last, self.weight = first[0], first[-1], assembly.weight
        self.found = [_matrices(body, k) for body, k in zip(self.elastic, first, strict=False)]
        self.ready = np.zeros(1, dtype=np.int64)
        self.used = set(assembly.joints.ends.reshape(-1).tolist())
        self.used.update(*(potential.bodies for potential in assembly.potentials))
        self.used.update(*(damper.direction.bodies for damper in assembly.dampers))
        self.used.update(*(inlet.direction.bodies for inlet in assembly.inlets))

    def __len__(self) -> int:
        """Return the number of elastic bodies."""
        return len(self.elastic)

    @property
    def moved(self) -> Indices:
        """All of their bodies."""
        frames = [[b.frame, *_carried(b)] for b in self.elastic]
        rows = np.arange(self.first, self.last)
        return np.concatenate([*(np.array(f, dtype=np.intp) for f in frames), rows])

    @property
    def idle(self) -> Indices:
        """Frames that they carry and nothing acts on."""
        carried = [c for body in self.elastic for c in _carried(body)]
        return np.array([c for c in carried if c not in self.used], dtype=np.intp)

    def _used(self, body: Elastic) -> list[tuple[int, int]]:
        """Return the frames that a body carries and something acts on, with their numbers."""
        return [(k, c) for k, c in enumerate(_carried(body)) if c in self.used]

    def meet(self, graph: Graph) -> None:
        """Join frames with groups and with what they carry, and groups with each other."""
        for of in self.found:
            frame = graph.motion(of.body.frame)
            rows = of.first + np.arange(len(of.groups))
            nodes = graph.motion(rows)[:, 0]
            graph.meet(frame[None])
            graph.meet(np.full(nodes.size, frame[0]), np.full(nodes.size, frame[1]), nodes)
            left, right = of.pairs.T
            graph.meet(nodes[left], nodes[right])
            for k, c in self._used(of.body):
                own = np.concatenate([graph.motion(c), graph.momentum(c)])
                linked = nodes[of.links[0][of.links[0][:, 0] == k, 1]]
                graph.meet(np.concatenate([own, frame, linked])[None])

    def table(self, graph: Graph, tiles: Tiles) -> Elastics:
        """Return all numbers and places."""
        rows = _Rows()
        for of in self.found:
            assert self.weight is not None
            pull = self.weight[of.body.frame] / of.body.data.mass
            _add(rows, of, pull, self._used(of.body), graph, tiles)
        return rows.table(self.last - self.first, self.ready)

    def start(self, q: Vector, angles: Mapping[str, float]) -> None:
        """Begin with nothing known of the state."""
        self.ready[:] = 0

    def add_constants(self, template: Real, graph: Graph, tiles: Tiles, mass: Real) -> None:
        """Add that twists and forces of carried frames are what they are."""
        for of in self.found:
            for c in _carried(of.body):
                for nodes, sign in ((graph.motion(c), 1.0), (graph.momentum(c), -1.0)):
                    template[tiles.at(nodes, nodes)] += sign * np.eye(THREE)


def _carried(body: Elastic) -> range:
    return range(body.first, body.first + len(body.data.points))


def _matrices(body: Elastic, first: int) -> _Matrices:
    data = body.data
    blocks = _in_groups(data)
    present = np.any(blocks != 0, axis=(0, 3, 4))
    pairs = np.argwhere(present | np.eye(len(present), dtype=bool))
    tiles = blocks[:, pairs[:, 0], pairs[:, 1]]
    tiles = np.swapaxes(tiles, 0, 1)
    fields = tiles[:, 4:].reshape(len(pairs), 81)
    fields = np.zeros((0, 81)) if data.axes is not None else fields
    by_columns = np.pad(np.swapaxes(tiles[:, :4], 2, 3), ((0, 0), (0, 0), (0, 0), (0, 1)))
    own = by_columns.reshape(len(pairs), 48)
    axes = np.zeros((data.n, 3)) if data.axes is None else data.axes
    of_mass = data.integrals
    per_coordinate = of_mass.S, of_mass.xS(), of_mass.moments.reshape(9, -1), axes.T
    parts = [_columns(data, A) for A in per_coordinate]
    groups = np.concatenate([*parts[:3], np.swapaxes(parts[3], 1, 2)], axis=1)
    Y = np.stack([_columns(data, Y_c) for Y_c in data.Y])
    Theta = np.stack([_columns(data, Theta_c) for Theta_c in data.Theta])
    both = np.concatenate([Y, Theta], axis=2)
    linked = np.argwhere(np.any(both != 0, axis=(2, 3)))
    links = both[linked[:, 0], linked[:, 1]].reshape(len(linked), -1)
    numbers = groups.reshape(len(groups), -1)
    return _Matrices(body, first, pairs, own, fields, numbers, (linked, links))


def _columns(data: Flexibility, A: Real) -> Real:
    """Return the columns of A (rows, n) in groups of three; (groups, rows, 3)."""
    padded = np.hstack([A, np.zeros((len(A), 1))])
    return np.moveaxis(padded[:, data.groups], 1, 0)


def _in_groups(data: Flexibility) -> Real:
    """Return M, K, D, and integrals with both shape functions; (13, groups, groups, 3, 3).

    Of these the products where each coordinate has an axis, phi × phi, and phi_a phi_b.
    """
    N = np.asarray(data.integrals.pairs)
    along = np.einsum("abkl->kl", N) if data.axes is not None else np.zeros_like(data.M)
    twice = [(N[a, b] + N[b, a]) / 2 for a, b in PAIRS_OF_AXES]
    matrices = np.array([data.M, data.K, data.D, along, *data.integrals.cross, *twice])
    padded = np.pad(matrices, ((0, 0), (0, 1), (0, 1)))
    g = data.groups
    blocks = np.moveaxis(padded[:, g[:, :, None, None], g[None, None]], 3, 2)
    # What a group has less than three of stays at rest: any mass will do.
    group, k = np.nonzero(g < 0)
    blocks[0, group, group, k, k] = np.max(data.M, initial=1.0)
    return blocks


class _Rows:
    """Rows of all tables, as they are collected."""

    def __init__(self) -> None:
        names = Elastics._fields[:-3]
        self.numbers: dict[str, list[Any]] = {name: [] for name in names}
        self.places: dict[str, list[Any]] = {name: [] for name in names}

    def add(self, name: str, numbers: Any, places: Any) -> None:
        """Add rows to a table."""
        self.numbers[name] += [np.ravel(row) for row in numbers]
        self.places[name] += [np.ravel(row) for row in places]

    def count(self, name: str) -> int:
        """Return the number of rows of a table."""
        return max(len(self.places[name]), len(self.numbers[name]))

    def table(self, groups: int, ready: NDArray[np.int64]) -> Elastics:
        """Return the tables; those with ranges have one more row, where these end."""
        ends = {
            "bodies": [0, 0, 0, groups, *map(self.count, BEGIN[1:])],
            "groups": [0, 0, 0, 0, 0, 0, self.count("pairs")],
            "carried": [0, self.count("links"), self.count("crossings")],
            "strains": [self.count("members"), self.count("bends")],
        }
        parts: list[Any] = []
        for name, (n, k) in SHAPES.items():
            numbers, places = self.numbers[name], list(self.places[name])
            if name in ends:
                places.append(np.pad(np.array(ends[name]), (0, k - len(ends[name]))))
            of, at = np.array(numbers, dtype=float), np.array(places, dtype=np.intp)
            if n == 0 or k == 0:
                parts.append(index(at.reshape(-1, k)) if k else real(of.reshape(-1, n)))
            else:
                parts.append(Part(real(of.reshape(-1, n)), index(at.reshape(-1, k))))
        room = np.zeros((groups, WIDTH))
        return Elastics._make([*parts, room, np.zeros((self.count("members"), 6)), ready])


#: Columns of numbers and of places of each table.
SHAPES = {
    "bodies": (16, 14),
    "groups": (54, 7),
    "pairs": (48, 3),
    "fields": (81, 0),
    "carried": (3, 13),
    "links": (18, 5),
    "crossings": (0, 3),
    "strains": (1, 2),
    "members": (3, 1),
    "bends": (9, 3),
}


def _add(
    rows: _Rows,
    of: _Matrices,
    pull: Real,
    used: Sequence[tuple[int, int]],
    graph: Graph,
    tiles: Tiles,
) -> None:
    """Add one elastic body to the tables."""
    data, frame = of.body.data, of.body.frame
    T, R = graph.motion(frame)
    count = len(of.groups)
    nodes = graph.motion(of.first + np.arange(count))[:, 0]
    first = rows.count("groups")
    J = data.integrals.J()
    numbers = [data.mass, *data.integrals.s(), *J.reshape(-1), *pull]
    own = tiles.at([T, T, R, R], [T, R, T, R])
    begin = [rows.count(name) for name in BEGIN]
    flags = int(data.deformed), int(data.damped)
    rows.add("bodies", [numbers], [[frame, *flags, *begin, T, R, *own]])
    one = np.ones(count, dtype=np.intp)
    at = tiles.at(T * one, nodes), tiles.at(R * one, nodes)
    back = tiles.at(nodes, T * one), tiles.at(nodes, R * one)
    left, right = of.pairs.T
    own = rows.count("pairs") + np.searchsorted(left, np.arange(count))
    places = of.first + np.arange(count), nodes, *at, *back, own
    rows.add("groups", of.groups, np.column_stack(places))
    tile = tiles.at(nodes[left], nodes[right])
    rows.add("pairs", of.tiles, np.column_stack([first + of.pairs, tile]))
    rows.add("fields", of.fields, [])
    _add_carried(rows, of, used, first, nodes, graph, tiles)
    if data.membrane is not None:
        _add_strains(rows, of, first, nodes, tiles)


def _add_carried(
    rows: _Rows,
    of: _Matrices,
    used: Sequence[tuple[int, int]],
    first: int,
    nodes: Indices,
    graph: Graph,
    tiles: Tiles,
) -> None:
    T, R = graph.motion(of.body.frame)
    linked, numbers = of.links
    for k, c in used:
        (KT, KR), (MT, MR) = graph.motion(c), graph.momentum(c)
        own = np.flatnonzero(linked[:, 0] == k)
        begin = rows.count("links"), rows.count("crossings")
        carrying = tiles.at([KT, KT, KR, T, R, R], [T, R, R, MT, MT, MR])
        rows.add("carried", [of.body.data.points[k]], [[c, *begin, KT, KR, MT, MR, *carrying]])
        for link in own:
            node = nodes[linked[link, 1]]
            at = tiles.at([KT, KR, node, node], [node, node, MT, MR])
            rows.add("links", [numbers[link]], [[first + linked[link, 1], *at]])
        turning = [j for j in range(own.size) if numbers[own[j], 9:].any()]
        for i in turning:
            for j in turning:
                pair = nodes[linked[own[i], 1]], nodes[linked[own[j], 1]]
                row = [begin[0] + i, begin[0] + j, tiles.at(*pair)]
                rows.add("crossings", [], [row])


def _add_strains(rows: _Rows, of: _Matrices, first: int, nodes: Indices, tiles: Tiles) -> None:
    data = of.body.data
    assert data.membrane is not None
    g = data.groups
    for k, e, A in zip(data.membrane.k, data.membrane.e, data.membrane.A, strict=True):
        linear = np.append(e, 0.0)[g]
        quadratic = np.pad(A, ((0, 1), (0, 1)))[g[:, :, None, None], g[None, None]]
        quadratic = np.moveaxis(quadratic, 2, 1)
        member = np.any(linear != 0, axis=1) | np.any(quadratic != 0, axis=(1, 2, 3))
        chosen = np.flatnonzero(member)
        begin = rows.count("members")
        rows.add("strains", [[k]], [[begin, rows.count("bends")]])
        rows.add("members", linear[chosen], (first + chosen)[:, None])
        for i, p in enumerate(chosen):
            for j, q in enumerate(chosen):
                place = [begin + i, begin + j, tiles.at(nodes[p], nodes[q])]
                rows.add("bends", [quadratic[p, q]], [place])
