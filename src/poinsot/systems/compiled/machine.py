"""From a mechanism to the arrays of the compiled engine."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.engine import parts
from poinsot.engine.laws import Law
from poinsot.frames.forms import GROUND, members
from poinsot.systems.compiled import acts
from poinsot.systems.compiled.equations import SLOTS
from poinsot.systems.compiled.nodes import Nodes
from poinsot.systems.compiled.products import Kind, Lines, Products, lines

Real = NDArray[np.float64]
Index = NDArray[np.uint32]
Indices = NDArray[np.intp]

#: What is added to equations that may repeat others, relative to their own size.
SHIFT = 1e-9


class Tables(Nodes):
    """A mechanism on its way to a machine: the tables of the compiled engine."""

    @property
    def places(self) -> Index:
        """Of every multiplier of joints: node, slot, column of x, 1 if it is times h; (m, 4)."""
        first, graph = 2 * self.mechanism.n + self.mechanism.rigid, self.graph
        if self.turning is not None:
            first = self.turning.first
        joint, slot = self.joints.places.T
        column, one = first + np.arange(joint.size), np.ones_like(joint)
        places = np.column_stack([graph.velocity(joint), slot, column, one])
        if self.stabilised:
            column = column + self.mechanism.m
            again = np.column_stack([graph.position(joint), slot, column, 0 * one])
            places = np.vstack([places, again])
        return _index(places)

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
        turn_counters = self._turn_counters
        return parts.Machine(
            bodies=self._body_tables(),
            points=self._point_tables(),
            rows=self._row_tables(),
            contacts=self._contact_tables(),
            struts=self._strut_tables(),
            strut_acts=self._strut_acts(),
            loads=self._load_tables(),
            drags=self._drag_tables(),
            fields=self._field_tables(),
            turn_counters=_index(turn_counters.ranges),
            turn_counter_terms=self._terms(turn_counters),
            schedule=self.tiles.schedule,
            template=self._template(),
            kinds=self._kinds(),
            unloaded=not self._acted_on,
            redundant=self.mechanism.redundant,
            shift=self._shift,
            exact=self._exact,
            stabilised=_index([1]) if self.stabilised else None,
            spins=self._spin_tables(),
            arms_at=self._arms_at,
            auxiliary=self.auxiliary,
        )

    @property
    def _arms_at(self) -> int:
        """Where the directors are that forces act on."""
        mean = self.turning is None or self.turning.mean
        return parts.DIRECTORS if mean else parts.ARMS

    @property
    def _acted_on(self) -> bool:
        """Whether more than weight and joints acts on bodies."""
        return bool(self.pulls or self.loads or self.drags or self.fields)

    @property
    def _exact(self) -> bool:
        """Whether the matrix is that of Newton's method: the turn of other arms is left out."""
        acted_on = self.joints.places.size or self._acted_on
        arms_at = self._arms_at == parts.DIRECTORS or not acted_on
        lacking = self.parted and self.joints.rows.joint.size
        return bool(arms_at and not lacking and not self.mechanism.redundant)

    def _spin_tables(self) -> parts.Spins | None:
        if self.turning is None:
            return None
        everyone = np.arange(self.count)
        nodes, auxiliaries = self.graph.motion(everyone)[:, 1:], self.graph.auxiliaries(everyone)
        # With one auxiliary node it is the rest, and velocity and momentum are not there.
        none = np.full((self.count, 3 - self.auxiliary), self.graph.nodes)
        named = np.hstack([nodes, none, auxiliaries])
        places = np.hstack([named[:, 1:], self.tiles.table(named, named)])
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
        everyone = np.arange(self.count)
        for nodes in (self.graph.motion(everyone), self.graph.momentum(everyone)):
            kinds[nodes[:, 0]] = parts.OF_TRANSLATION
        if self.stabilised:
            kinds[self.graph.first_joint :: 2] = parts.OF_POSITION
        return _index(kinds)

    def _body_tables(self) -> parts.Part:
        mass, weight = self.mechanism.inertia, self.mechanism.weight
        light = np.vstack([mass[:, 1:] == 0, np.zeros(3, dtype=bool)])
        flat = np.where(light.any(axis=1), light.argmax(axis=1), 3)
        at, everyone = self.tiles.at, np.append(np.arange(self.count), GROUND)
        (KT, KR), (T, R) = self.graph.motion(everyone).T, self.graph.momentum(everyone).T
        unknowns = self.mechanism.unknowns if self.turning is None else self.turning.unknowns
        places = [T, R, at(T, KT), at(R, KR), self.condensed, flat]
        places += [self.graph.first, unknowns.first]
        if self.stabilised:
            places += [KT, KR, at(KT, KT), at(KT, T), at(T, T), at(KR, KR), at(KR, R), at(R, R)]
        return parts.Part(_real(np.hstack([2 * mass, weight])), _index(np.column_stack(places)))

    def _point_tables(self) -> parts.Part:
        at, joint = self.joints.points.at, self.joints.points.joint
        if self.stabilised:
            places = self._stabilised_places(at, joint, 0 * joint)
        else:
            node, R = self.graph.position(joint)[:, None], self.graph.motion(at.ends)[:, :, 1]
            tiles = self.tiles.table(R, node), self.tiles.table(node, R)
            kind = np.full_like(joint, Kind.AXIS)
            places = np.column_stack([kind, self._two(at.ends), node, *tiles])
        return parts.Part(_real(np.hstack([at.XA, at.XB])), _index(places))

    def _row_tables(self) -> parts.Part:
        rows, table = self.joints.rows, self.tiles.table
        at, joint, K = rows.at, rows.joint, self._motion(rows.at.ends)
        if self.stabilised:
            M = self._momentum(at.ends)
            pairs = table(K, K), table(M, K), table(M, M)
            places = np.column_stack([self._stabilised_places(at, joint, rows.slot), *pairs])
            return parts.Part(_real(np.column_stack([at.numbers, rows.constant])), _index(places))
        first = np.flatnonzero(rows.begins)
        count = np.diff(np.append(first, joint.size))
        alike, inner = members(count)
        constants, vectors = np.zeros((first.size, SLOTS)), np.zeros((first.size, SLOTS, 3))
        constants[alike, inner] = rows.constant
        varied = np.where((at.kind == Kind.DOT)[:, None], at.b, at.a)
        vectors[alike, inner] = at.coefficient[:, None] * varied
        numbers = np.hstack([at.numbers[first], constants, vectors.reshape(-1, 9)])
        node, K = self.graph.position(joint[first])[:, None], K[first]
        tiles = table(K, node), table(node, K), table(K, K)
        own = at.kind[first], self._two(at.ends[first]), count, node, rows.slot[first]
        return parts.Part(_real(numbers), _index(np.column_stack([*own, *tiles])))

    def _contact_tables(self) -> parts.Part:
        contacts, table = self.joints.contacts, self.tiles.table
        numbers = [[*s.edge, *s.spot, *s.normal, *s.base, s.held] for s in contacts]
        given = _table([[s.kind, s.body, s.joint, s.slot] for s in contacts], 4).astype(np.intp)
        kind, body, joint, slot = given.T
        node, K = self.graph.position(joint)[:, None], self.graph.motion(body)
        tiles = table(K, node), table(node, K), table(K, K)
        places = np.column_stack([kind, body, node, slot, *tiles])
        return parts.Part(_table(numbers, 13), _index(places))

    def _stabilised_places(self, at: Products, joint: Indices, slot: Indices) -> Indices:
        """Return what equations of the stabilised form meet besides pairs of bodies."""
        K, M, table = self._motion(at.ends), self._momentum(at.ends), self.tiles.table
        G, H = self.graph.position(joint)[:, None], self.graph.velocity(joint)[:, None]
        columns = table(K, G), table(M, G), table(M, H)
        rows = table(G, K), table(H, K), table(H, M)
        return np.column_stack(
            [at.kind, self._two(at.ends), 0 * joint, G, slot, H, *columns, *rows]
        )

    def _strut_tables(self) -> parts.Part:
        struts = self.struts
        pairs = self.tiles.table(self._momentum(struts.ends), self._motion(struts.ends))
        places = [struts.kind, self._two(struts.ends), struts.chart, struts.ranges, pairs]
        return parts.Part(_real(struts.numbers), _index(np.column_stack(places)))

    def _strut_acts(self) -> parts.Acts:
        pulls = self.pulls
        numbers = _table([pull.numbers for pull in pulls], 4)
        places = _table([[pull.role, pull.port] for pull in pulls], 2)
        return parts.Acts(numbers, _index(places), _addresses(pulls))

    def _load_tables(self) -> parts.Acts:
        loads = self.loads
        numbers = _table([[*load.X, *load.axes.reshape(-1)] for load in loads], 12)
        given = _table([[load.kind, load.body, load.port] for load in loads], 3)
        places = np.column_stack([given, self._own([load.body for load in loads])])
        return parts.Acts(numbers, _index(places), _addresses(loads))

    def _drag_tables(self) -> parts.Part:
        drags = self.drags
        given = _table([[drag.kind, drag.body] for drag in drags], 2)
        places = np.column_stack([given, self._own([drag.body for drag in drags])])
        return parts.Part(_table([[*drag.numbers, *drag.X] for drag in drags], 7), _index(places))

    def _own(self, bodies: Sequence[int]) -> Indices:
        """Return the tiles of (T, R) of bodies with each other; (bodies, 4)."""
        numbers = np.array(bodies, dtype=np.intp)
        return self.tiles.table(self.graph.momentum(numbers), self.graph.motion(numbers))

    def _field_tables(self) -> parts.Fields:
        fields = self.fields
        vectors = [vector for act in fields for vector in act.vectors]
        counts = [len(act.vectors) for act in fields]
        both = [(i, j) for act in fields for i, _, _ in act.vectors for j, _, _ in act.vectors]
        i, j = np.array(both, dtype=np.intp).reshape(-1, 2).T
        first = np.cumsum([[0, 0], *([count, count**2] for count in counts)], axis=0)
        return parts.Fields(
            numbers=_table([[moves, *X] for _, moves, X in vectors], 4),
            bodies=np.array([body for body, _, _ in vectors], dtype=np.uint32),
            first=_index(first),
            pairs=_index(self.tiles.table(self.graph.momentum(i), self.graph.motion(j))),
            laws=_addresses(fields),
        )

    @cached_property
    def _turn_counters(self) -> Lines:
        """The angles of joints, of which each is a cosine and a sine."""
        forms = self.layout.angle_forms
        return lines(forms, np.full(forms.m // 2, 2))

    def _motion(self, ends: Indices) -> Indices:
        """Return the nodes T_A, R_A, T_B, R_B of motion; (k, 4)."""
        return self.graph.motion(ends).reshape(-1, 4)

    def _momentum(self, ends: Indices) -> Indices:
        """Return the nodes T_A, R_A, T_B, R_B of momentum; (k, 4)."""
        return self.graph.momentum(ends).reshape(-1, 4)

    def _two(self, ends: Indices) -> Indices:
        """Return the bodies A and B, the ground being the last."""
        return np.where(ends == GROUND, self.count, ends)

    def _terms(self, along: Lines) -> parts.Part:
        p = along.products
        numbers = np.column_stack([p.numbers, np.zeros(p.kind.size)])
        places = np.column_stack([p.kind, self._two(p.ends), along.form])
        return parts.Part(_real(numbers), _index(places))

    def _template(self) -> Real:
        """Return what tiles hold before bodies and joints add to them."""
        tiles, joints = self.tiles, np.arange(self.graph.first_joint, self.graph.nodes)
        template = np.zeros((tiles.count + 1, SLOTS, SLOTS))
        slot = np.arange(SLOTS)
        template[tiles.at(joints, joints)[:, None], slot, slot] = self._shift[joints]
        self._leave_out(template)
        if not self.stabilised:
            self._join_points(template)
        template[tiles.count] = 0.0
        return template.reshape(-1, 9)

    def _leave_out(self, template: Real) -> None:
        """Keep multipliers at zero that have no equation."""
        filled = np.zeros((self.graph.joints, SLOTS), dtype=bool)
        filled[tuple(self.joints.places.T)] = True
        joint, slot = np.nonzero(~filled)
        for node in (self.graph.position(joint), self.graph.velocity(joint)):
            template[self.tiles.at(node, node), slot, slot] = 1.0

    def _join_points(self, template: Real) -> None:
        """Put in how points meet translations, and what is left where these are eliminated."""
        at, points = self.tiles.at, self.joints.points
        node, body = np.tile(self.graph.position(points.joint), 2), points.at.ends.T.reshape(-1)
        sign = np.repeat([-1.0, 1.0], points.joint.size)
        condensed = self.condensed[body]
        kept = (body != GROUND) & ~condensed
        T = self.graph.motion(body[kept])[:, 0]
        for tiles in (at(T, node[kept]), at(node[kept], T)):
            np.add.at(template, tiles, sign[kept, None, None] * np.eye(SLOTS))
        # Points on the same condensed body, each with each.
        order = np.argsort(body, kind="stable")
        order = order[condensed[order]]
        counts = np.bincount(body[order], minlength=self.count)[body[order]]
        one, inner = members(counts)
        start = np.searchsorted(body[order], body[order])
        one, other = order[one], order[start[one] + inner]
        inverse = sign[one] * sign[other] / (2 * self.mechanism.masses[body[one]])
        np.add.at(template, at(node[one], node[other]), -inverse[:, None, None] * np.eye(SLOTS))

    @cached_property
    def _shift(self) -> Real:
        """What is added to the equations of nodes: nothing unless some repeat others.

        SHIFT times the size of an equation's own entry of G M^-1 G^T, about.
        """
        shift = np.zeros((self.graph.nodes, SLOTS))
        if not self.mechanism.redundant:
            return shift
        points, rows = self.joints.points, self.joints.rows
        mass = np.vstack([self.mechanism.inertia, np.full(4, np.inf)])
        by_force, euler = 1 / mass[:, 0], mass[:, 1:].sum(axis=1)
        by_torque = 1 / np.where(euler > 0, euler, np.inf)
        size = np.zeros((self.graph.joints, SLOTS))
        reach = np.column_stack([(X**2).sum(axis=1) for X in (points.at.XA, points.at.XB)])
        each = by_force[points.at.ends] + reach * by_torque[points.at.ends]
        size[points.joint] = each.sum(axis=1)[:, None]
        for contact_row in self.joints.contacts:
            size[contact_row.joint, contact_row.slot] = by_force[contact_row.body]
        by = np.where(rows.at.moves[:, None], by_force[rows.at.ends], by_torque[rows.at.ends])
        size[rows.joint, rows.slot] = by.sum(axis=1)
        joint, slot = self.joints.places[self.mechanism.looped - self.mechanism.rigid].T
        shift[self.graph.velocity(joint), slot] = -SHIFT * size[joint, slot]
        if self.stabilised:
            shift[self.graph.position(joint), slot] = SHIFT * size[joint, slot]
        return shift


def _index(values: ArrayLike) -> Index:
    return np.ascontiguousarray(values, dtype=np.uint32)


def _real(values: ArrayLike) -> Real:
    return np.ascontiguousarray(values, dtype=float)


def _table(rows: Sequence[Sequence[float]], columns: int) -> Real:
    """Return rows as an array that has its columns even if there are none."""
    return np.array(rows, dtype=float).reshape(-1, columns)


def _addresses(acting: Sequence[acts.Act]) -> NDArray[np.int64]:
    return np.array([0 if act.law is None else act.law.address for act in acting], dtype=np.int64)
