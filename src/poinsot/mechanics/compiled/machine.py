"""From a mechanism to the arrays of the compiled engine."""

import os
from collections.abc import Sequence
from functools import cached_property
from itertools import groupby

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.engine import parts
from poinsot.engine.laws import Law
from poinsot.mechanics.bodies import RIGIDITY
from poinsot.mechanics.compiled import acts
from poinsot.mechanics.compiled.equations import SLOTS, alike_in
from poinsot.mechanics.compiled.nodes import Nodes, ends_of
from poinsot.mechanics.compiled.products import Kind, Product
from poinsot.mechanics.forms import GROUND, WIDTH

Real = NDArray[np.float64]
Index = NDArray[np.uint32]

#: Environment variable; "one" asks for a kernel that all mechanisms share, whatever their parts.
KERNELS = "POINSOT_KERNELS"
#: What is added to equations that may repeat others, relative to their own size.
SHIFT = 1e-9


class Tables(Nodes):
    """A mechanism on its way to a machine: the tables of the compiled engine."""

    @property
    def places(self) -> Index:
        """Of every multiplier of joints: node, slot, column of x, 1 if it is times h; (m, 4)."""
        first, graph = 2 * self.mechanism.n + RIGIDITY * self.count, self.graph
        if self.turning is not None:
            first = self.turning.first
        places = [
            (graph.velocity(joint), slot, first + k, 1)
            for k, (joint, slot) in enumerate(self.joints.places)
        ]
        if self.twice:
            first += self.mechanism.m
            places += [
                (graph.position(joint), slot, first + k, 0)
                for k, (joint, slot) in enumerate(self.joints.places)
            ]
        return _index(places, 4)

    @property
    def laws(self) -> list[Law]:
        """Python functions that must live as long as the machine runs."""
        acting: list[acts.Act] = [*self.pulls, *self.loads, *self.fields]
        return [act.law for act in acting if act.law is not None]

    @property
    def room(self) -> tuple[int, int]:
        """How many numbers laws are given, and how many they find."""
        sizes = [law.sizes for law in self.laws]
        return max((g for g, _ in sizes), default=0), max((f for _, f in sizes), default=0)

    # -- arrays -------------------------------------------------------------------------------

    def machine(self) -> parts.Machine:
        """Return the tables of the compiled engine."""
        struts, dials = self.struts, self._dials
        all_kinds = os.environ.get(KERNELS) == "one"
        return parts.Machine(
            bodies=self._body_tables(),
            points=self._point_tables(),
            rows=self._row_tables() if self.joints.rows or all_kinds else None,
            skids=self._skid_tables() if self.joints.skids or all_kinds else None,
            struts=self._strut_tables() if struts or all_kinds else None,
            strut_acts=self._strut_acts() if struts or all_kinds else None,
            loads=self._load_tables() if self.loads or all_kinds else None,
            drags=self._drag_tables() if self.drags or all_kinds else None,
            fields=self._field_tables() if self.fields or all_kinds else None,
            dials=_ranges(dials) if dials or all_kinds else None,
            dial_terms=self._terms(dials) if dials or all_kinds else None,
            schedule=self.tiles.schedule,
            template=self._template(),
            kinds=self._kinds(),
            bare=not self._acted_on,
            redundant=self.mechanism.redundant,
            shift=self._shift,
            exact=self._exact,
            twice=_index([1]) if self.twice else None,
            spins=self._spin_tables(),
            levers=self._levers,
            spare=self.spare,
        )

    @property
    def _levers(self) -> int:
        """Where the directors are that forces act on."""
        mean = self.turning is None or self.turning.mean
        return parts.DIRECTORS if mean else parts.LEVERS

    @property
    def _acted_on(self) -> bool:
        """Whether more than weight and joints acts on bodies."""
        return bool(self.struts or self.loads or self.drags or self.fields)

    @property
    def _exact(self) -> bool:
        """Whether the matrix is that of Newton's method: the turn of other levers is left out."""
        acted_on = self.joints.places or self._acted_on
        levers = self._levers == parts.DIRECTORS or not acted_on
        return levers and not (self.parted and self.joints.rows) and not self.mechanism.redundant

    def _spin_tables(self) -> parts.Spins | None:
        if self.turning is None:
            return None
        places = []
        for body in range(self.count):
            nodes = [self.graph.motion(body)[1], *self.graph.spares(body)]
            # With one spare node it is the rest, and velocity and momentum are not there.
            named = [nodes[0], *[self.graph.nodes] * (4 - len(nodes)), *nodes[1:]]
            places.append([*named[1:], *self.tiles.table(named, named)])
        return parts.Spins(
            inertia=_real(self.turning.inertia),
            places=_index(places),
            form=self.turning.form,
            mean=self.turning.mean,
        )

    def _kinds(self) -> Index:
        """Return which of the sizes measures each node's equations."""
        kinds = np.full(self.graph.nodes, parts.OF_CLOSURE)
        kinds[: self.graph.first_joint] = parts.OF_ROTATION
        stride = 2 + self.spare
        kinds[: self.graph.first_joint : stride] = parts.OF_TRANSLATION
        if self.twice:
            kinds[self.graph.first_joint :: 2] = parts.OF_POSITION
        return _index(kinds)

    def _body_tables(self) -> parts.Part:
        mass = self.mechanism.mass.reshape(-1, 4, 3)[:, :, 0]
        weight = self.mechanism.weight.reshape(-1, 4, 3)[:, 0]
        light = np.vstack([mass[:, 1:] == 0, np.zeros(3, dtype=bool)])
        flat = np.where(light.any(axis=1), light.argmax(axis=1), 3)
        at, places = self.tiles.at, []
        for body in (*range(self.count), GROUND):
            KT, KR = self.graph.motion(body)
            T, R = self.graph.momentum(body)
            row = [T, R, at(T, KT), at(R, KR), self.slim[body], flat[body]]
            if self.twice:
                row += [KT, KR, at(KT, KT), at(KT, T), at(T, T), at(KR, KR), at(KR, R), at(R, R)]
            places.append(row)
        return parts.Part(_real(np.hstack([2 * mass, weight])), _index(places))

    def _point_tables(self) -> parts.Part:
        numbers, places = [], []
        for point in self.joints.points:
            numbers.append([*point.at.XA, *point.at.XB])
            node = self.graph.position(point.joint)
            if self.twice:
                places.append(self._twice(point.at, point.joint, 0))
                continue
            R = [self.graph.motion(body)[1] for body in ends_of(point.at)]
            tiles = *self.tiles.column(R, node), *self.tiles.row(node, R)
            places.append([Kind.AXIS, *self._two(point.at), node, *tiles])
        return parts.Part(_real(numbers, 6), _index(places, 8))

    def _row_tables(self) -> parts.Part:
        numbers, places = [], []
        if self.twice:
            for row in self.joints.rows:
                K, M = self._motion(ends_of(row.at)), self._momentum(ends_of(row.at))
                table = self.tiles.table
                pairs = [*table(K, K), *table(M, K), *table(M, M)]
                numbers.append([*row.at.numbers, row.constant])
                places.append([*self._twice(row.at, row.joint, row.slot), *pairs])
            return parts.Part(_real(numbers), _index(places))
        for (joint, *_), alike in groupby(
            self.joints.rows, key=lambda row: (row.joint, *alike_in(row.at))
        ):
            rows = list(alike)
            at, node, K = rows[0].at, self.graph.position(joint), self._motion(ends_of(rows[0].at))
            vectors, constants = np.zeros((SLOTS, 3)), np.zeros(SLOTS)
            for k, row in enumerate(rows):
                varied = row.at.b if at.kind == Kind.DOT else row.at.a
                vectors[k], constants[k] = row.at.coefficient * varied, row.constant
            numbers.append([*at.numbers, *constants, *vectors.reshape(-1)])
            tiles = *self.tiles.column(K, node), *self.tiles.row(node, K), *self.tiles.table(K, K)
            places.append([at.kind, *self._two(at), len(rows), node, rows[0].slot, *tiles])
        return parts.Part(_real(numbers), _index(places))

    def _skid_tables(self) -> parts.Part:
        numbers, places = [], []
        for skid in self.joints.skids:
            node, K = self.graph.position(skid.joint), self.graph.motion(skid.body)
            numbers.append([*skid.edge, *skid.spot, *skid.normal, *skid.base, skid.held])
            tiles = *self.tiles.column(K, node), *self.tiles.row(node, K), *self.tiles.table(K, K)
            places.append([skid.kind, skid.body, node, skid.slot, *tiles])
        return parts.Part(_real(numbers, 13), _index(places, 12))

    def _twice(self, at: Product, joint: int, slot: int) -> list[int]:
        """Return what an equation of the stabilised form meets besides pairs of bodies."""
        K, M = self._motion(ends_of(at)), self._momentum(ends_of(at))
        G, H, tiles = self.graph.position(joint), self.graph.velocity(joint), self.tiles
        columns = tiles.column(K, G) + tiles.column(M, G) + tiles.column(M, H)
        rows = tiles.row(G, K) + tiles.row(H, K) + tiles.row(H, M)
        return [at.kind, *self._two(at), 0, G, slot, H, *columns, *rows]

    def _strut_tables(self) -> parts.Part:
        places = []
        ranges = _ranges([strut.pulls for strut in self.struts])
        for strut, acting in zip(self.struts, ranges, strict=True):
            pair = self.tiles.table(self._momentum(strut.ends), self._motion(strut.ends))
            bodies = self._two(strut.products[0][1])
            places.append([strut.kind, *bodies, strut.chart, *acting, *pair])
        return parts.Part(_real([strut.numbers for strut in self.struts]), _index(places))

    def _strut_acts(self) -> parts.Acts:
        numbers = _real([pull.numbers for pull in self.pulls])
        places = _index([[pull.role, pull.port] for pull in self.pulls])
        return parts.Acts(numbers, places, _addresses(self.pulls))

    def _load_tables(self) -> parts.Acts:
        numbers, places = [], []
        for load in self.loads:
            own = self.tiles.table(self.graph.momentum(load.body), self.graph.motion(load.body))
            numbers.append([*load.X, *load.axes.reshape(-1)])
            places.append([load.kind, load.body, load.port, *own])
        return parts.Acts(_real(numbers), _index(places), _addresses(self.loads))

    def _drag_tables(self) -> parts.Part:
        numbers, places = [], []
        for drag in self.drags:
            own = self.tiles.table(self.graph.momentum(drag.body), self.graph.motion(drag.body))
            numbers.append([*drag.numbers, *drag.X])
            places.append([drag.kind, drag.body, *own])
        return parts.Part(_real(numbers), _index(places))

    def _field_tables(self) -> parts.Fields:
        fields = self.fields
        vectors = [vector for act in fields for vector in act.vectors]
        counts = [len(act.vectors) for act in fields]
        pairs = [
            self.tiles.table(self.graph.momentum(i), self.graph.motion(j))
            for act in fields
            for i, _, _ in act.vectors
            for j, _, _ in act.vectors
        ]
        first = np.cumsum([[0, 0], *([count, count**2] for count in counts)], axis=0)
        return parts.Fields(
            numbers=_real([[moves, *X] for _, moves, X in vectors]),
            bodies=np.array([body for body, _, _ in vectors], dtype=np.uint32),
            first=_index(first),
            pairs=_index(pairs),
            laws=_addresses(fields),
        )

    @cached_property
    def _dials(self) -> list[acts.Products]:
        everyone = tuple(range(self.count))
        return [
            acts.along(everyone, freedom.forms)
            for joint in self.layout.joints
            for freedom in joint.freedoms
            if freedom.rotates
        ]

    def _motion(self, ends: Sequence[int]) -> list[int]:
        """Return the nodes T_A, R_A, T_B, R_B of motion."""
        return [node for body in ends for node in self.graph.motion(body)]

    def _momentum(self, ends: Sequence[int]) -> list[int]:
        """Return the nodes T_A, R_A, T_B, R_B of momentum."""
        return [node for body in ends for node in self.graph.momentum(body)]

    def _two(self, p: Product) -> list[int]:
        """Return the bodies A and B, the ground being the last."""
        return [self.count if body == GROUND else body for body in ends_of(p)]

    def _terms(self, groups: Sequence[acts.Products]) -> parts.Part:
        terms = [term for group in groups for term in group]
        numbers = [[*p.numbers, 0.0] for _, p in terms]
        places = [[p.kind, *self._two(p), form] for form, p in terms]
        return parts.Part(_real(numbers), _index(places))

    def _template(self) -> Real:
        """Return what tiles hold before bodies and joints add to them."""
        tiles, graph = self.tiles, self.graph
        template = np.zeros((tiles.count + 1, SLOTS, SLOTS))
        for node in range(graph.first_joint, graph.nodes):
            template[self._diagonal(node)] = np.diag(self._shift[node])
        self._leave_out(template)
        if not self.twice:
            self._join_points(template)
        template[tiles.count] = 0.0
        return template.reshape(-1, 9)

    def _diagonal(self, node: int) -> int:
        return self.tiles.at(node, node)

    def _leave_out(self, template: Real) -> None:
        """Keep multipliers at zero that have no equation."""
        filled = np.zeros((self.graph.joints, SLOTS), dtype=bool)
        filled[tuple(np.array(self.joints.places, dtype=int).reshape(-1, 2).T)] = True
        for joint, slot in np.argwhere(~filled):
            for node in {self.graph.position(int(joint)), self.graph.velocity(int(joint))}:
                template[self._diagonal(node), slot, slot] = 1.0

    def _join_points(self, template: Real) -> None:
        """Put in how points meet translations, and what is left where these are eliminated."""
        at, graph, mass = self.tiles.at, self.graph, self.mechanism.mass
        sides: dict[int, list[tuple[int, float]]] = {}
        for point in self.joints.points:
            for body, sign in zip(ends_of(point.at), (-1.0, 1.0), strict=True):
                if body != GROUND:
                    sides.setdefault(body, []).append((graph.position(point.joint), sign))
        for body, points in sides.items():
            T, _ = graph.motion(body)
            for node, sign in points:
                if not self.slim[body]:
                    template[at(T, node)] += sign * np.eye(SLOTS)
                    template[at(node, T)] += sign * np.eye(SLOTS)
                    continue
                for other, other_sign in points:
                    inverse = sign * other_sign / (2 * mass[WIDTH * body])
                    template[at(node, other)] -= inverse * np.eye(SLOTS)

    @cached_property
    def _shift(self) -> Real:
        """What is added to the equations of nodes: nothing unless some repeat others.

        SHIFT times the size of an equation's own entry of G M^-1 G^T, about.
        """
        joints = self.joints
        shift = np.zeros((self.graph.nodes, SLOTS))
        if not self.mechanism.redundant:
            return shift
        mass = np.vstack([self.mechanism.mass.reshape(-1, 4, 3)[:, :, 0], np.full(4, np.inf)])
        by_force, by_torque = 1 / mass[:, 0], 1 / mass[:, 1:].sum(axis=1)
        size = {}
        for point in joints.points:
            reach = (point.at.XA @ point.at.XA, point.at.XB @ point.at.XB)
            each = [
                by_force[b] + r * by_torque[b]
                for b, r in zip(ends_of(point.at), reach, strict=True)
            ]
            size.update({(point.joint, slot): sum(each) for slot in range(SLOTS)})
        size |= {(skid.joint, skid.slot): by_force[skid.body] for skid in joints.skids}
        for row in joints.rows:
            by = by_torque if row.at.kind == Kind.DOT else by_force
            size[row.joint, row.slot] = sum(by[b] for b in ends_of(row.at))
        for k in self.mechanism.looped - RIGIDITY * self.count:
            joint, slot = joints.places[k]
            shift[self.graph.velocity(joint), slot] = -SHIFT * size[joint, slot]
            if self.twice:
                shift[self.graph.position(joint), slot] = SHIFT * size[joint, slot]
        return shift


def _ranges(groups: Sequence[Sequence[object]]) -> Index:
    """Return where each group begins and ends when all are put in a row; shape (groups, 2)."""
    ends = np.cumsum([0, *(len(group) for group in groups)])
    return _index(np.column_stack([ends[:-1], ends[1:]]))


def _index(values: ArrayLike, columns: int = 0) -> Index:
    array = np.ascontiguousarray(values, dtype=np.uint32)
    return array if array.size else np.zeros((0, columns), dtype=np.uint32)


def _real(values: ArrayLike, columns: int = 0) -> Real:
    array = np.ascontiguousarray(values, dtype=float)
    return array if array.size else np.zeros((0, columns))


def _addresses(acting: Sequence[acts.Act]) -> NDArray[np.int64]:
    return np.array([0 if act.law is None else act.law.address for act in acting], dtype=np.int64)
