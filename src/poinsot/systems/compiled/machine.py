"""From a mechanism to the arrays of the compiled engine."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from poinsot.bodies.flexible import Elastic
from poinsot.bodies.unknowns import Unknowns
from poinsot.engine import job
from poinsot.engine.families import FAMILIES
from poinsot.engine.families import Tables as PartTables
from poinsot.engine.ordering import has_loops
from poinsot.engine.tiles import Refinement, Schedule, Template, aligned, arrange, pack
from poinsot.frames.forms import GROUND
from poinsot.frames.products import lines
from poinsot.kernels import tables
from poinsot.kernels.laws import Called, Law
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.parts.elastic_bodies import groups_of
from poinsot.parts.equations import SLOTS, Equations
from poinsot.parts.family import Assembly, Family, index, real
from poinsot.ph.matrices import Vector
from poinsot.systems.layout import Layout
from poinsot.systems.mechanism import Mechanism

Real = NDArray[np.float64]
Index = NDArray[np.uint32]

#: A body whose moments of inertia differ by more than this is slender.
SLENDER = 1e-3
#: Where bodies differ by more than this in mass or inertia, solutions are refined.
LOPSIDED = 1e5


@dataclass(frozen=True, eq=False)
class Turning:
    """How bodies in quaternions turn: the equations, the lever arms, and auxiliary nodes.

    `unknowns` are those of bodies, `first` is the column of x with the first multiplier of joints.
    """

    unknowns: Unknowns
    form: int
    mean: bool
    auxiliary: int
    first: int


@dataclass(frozen=True, eq=False)
class Parts:
    """A mechanism taken apart: the equations of its joints, and its parts by families."""

    joints: Equations
    families: tuple[Family, ...]

    @classmethod
    def of(cls, mechanism: Mechanism, layout: Layout) -> "Parts":
        """Return the parts of a mechanism."""
        total, rows = mechanism.constraints, [joint.rows.size for joint in layout.joints]
        assembly = Assembly(
            count=len(layout.bodies),
            potentials=mechanism.potentials,
            dampers=mechanism.dampers,
            inlets=mechanism.inlets,
            forms=total.take(np.arange(total.m - sum(rows), total.m)),
            rows=np.array(rows, dtype=np.intp),
            contacts=[joint.contact for joint in layout.joints],
            elastic=mechanism.elastic,
            weight=mechanism.weight,
            relaxing=mechanism.relaxing,
            strains_at=2 * mechanism.n,
            networks=mechanism.networks,
        )
        return cls(assembly.joints, tuple(family(assembly) for family in FAMILIES))

    @property
    def laws(self) -> list[Called]:
        """Functions that must live as long as the machine runs."""
        return [law for family in self.families for law in family.laws if law is not None]

    @property
    def room(self) -> tuple[int, int]:
        """How many numbers laws are given, and how many they find."""
        sizes = [law.sizes for law in self.laws]
        return max((g for g, _ in sizes), default=0), max((f for _, f in sizes), default=0)


@dataclass(frozen=True, eq=False)
class Tables:
    """A mechanism on its way to a machine: the nodes that its parts meet, and their tables.

    In the plain form or in the stabilised one (`stabilised`); with a `turning`, in quaternions.

    A machine that may be `decoupled` leaves out of its matrix, where joints close loops, how the
    reactions of joints turn with the OTHER body and what ties turns and translations: terms of
    order h^2. Elimination is much cheaper, and Newton's method converges almost as fast unless the
    step is large.
    """

    mechanism: Mechanism
    layout: Layout
    parts: Parts
    stabilised: bool = False
    decoupled: bool = False
    turning: Turning | None = None

    @property
    def count(self) -> int:
        """Number of bodies."""
        return len(self.layout.bodies)

    # -- nodes --------------------------------------------------------------------------------

    @cached_property
    def condensed(self) -> NDArray[np.bool_]:
        """Bodies whose translation meets nothing but a few points of joints; the ground last."""
        condensed = np.full(self.count + 1, not self.stabilised)
        for family in self.parts.families:
            condensed[family.moved] = False
        condensed[GROUND] = False
        return condensed

    @cached_property
    def graph(self) -> Graph:
        """Which nodes meet."""
        joints, auxiliary = self.parts.joints, self._auxiliary
        decoupled = self.decoupled and has_loops(joints.pairs[0], self.count)
        turns = self.mechanism.unknowns.turns
        carried, owner = np.zeros(self.count, dtype=bool), np.arange(self.count)
        idle = np.zeros(self.count, dtype=bool)
        for body, parts in self._elastic:
            carried[body.first : body.first + len(body.data.points)] = True
            owner[parts] = body.frame
        for family in self.parts.families:
            idle[family.idle] = True
        equations = joints.groups, self.condensed, self.stabilised, decoupled, auxiliary
        graph = Graph(turns, carried, idle, owner, *equations)
        everyone = np.arange(self.count)
        if auxiliary:
            graph.meet(graph.motion(everyone)[:, 1], graph.auxiliaries(everyone))
        if self.stabilised:
            for motion, momentum in zip(
                graph.motion(everyone).T, graph.momentum(everyone).T, strict=True
            ):
                graph.meet(motion, momentum)
        for family in self.parts.families:
            family.meet(graph)
        return graph

    @cached_property
    def _elastic(self) -> list[tuple[Elastic, NDArray[np.intp]]]:
        """Elastic bodies, and all bodies of the engine that are parts of each."""
        elastic = self.mechanism.elastic
        ends = self.count + np.cumsum(groups_of(elastic)) - sum(groups_of(elastic))
        found = []
        for body, count, end in zip(elastic, groups_of(elastic), ends.tolist(), strict=True):
            places = range(body.first, body.first + len(body.data.points))
            parts = [body.frame, *places, *range(end - count, end)]
            found.append((body, np.array(parts, dtype=np.intp)))
        return found

    @property
    def _auxiliary(self) -> int:
        """How many nodes a body has besides translation and rotation."""
        return 0 if self.turning is None else self.turning.auxiliary

    @cached_property
    def _arranged(self) -> tuple[Tiles, Schedule]:
        return arrange(self.graph, *self.parts.joints.pairs)

    @property
    def tiles(self) -> Tiles:
        """The tiles of the Newton matrix."""
        return self._arranged[0]

    @property
    def schedule(self) -> Schedule:
        """The order of elimination."""
        return self._arranged[1]

    @property
    def places(self) -> Index:
        """Of every multiplier of joints: node, slot, column of x, 1 if it is times h; (m, 4)."""
        moving = 2 * self.mechanism.n + self.mechanism.strains
        first, graph = moving + self.mechanism.rigid, self.graph
        if self.turning is not None:
            first = self.turning.first
        joint, slot = self.parts.joints.places.T
        column, one = first + np.arange(joint.size), np.ones_like(joint)
        places = np.column_stack([graph.velocity(joint), slot, column, one])
        if self.stabilised:
            column = column + self.mechanism.m
            again = np.column_stack([graph.position(joint), slot, column, 0 * one])
            places = np.vstack([places, again])
        return index(places)

    # -- arrays -------------------------------------------------------------------------------

    def work(self, given: int, found: int) -> job.Work:
        """Return room for a step, with laws that are given and find so many numbers."""
        nodes, tiles = self.graph.nodes + 1, self.tiles.count + 1
        refined = int(self._lopsided)
        return job.Work(
            x=aligned(nodes, 4),
            tiles=aligned(tiles, 12),
            refinement=Refinement(
                matrix=aligned(refined * tiles, 12),
                right=aligned(refined * nodes, 4),
                lacking=aligned(refined * nodes, 4),
            ),
            gap=np.zeros((nodes, 3)),
            sizes=np.zeros(12),
            given=np.zeros(given),
            found=np.zeros(found),
            factorised=np.zeros(2, dtype=np.uint32),
        )

    def machine(self, f: Vector) -> job.Machine:
        """Return the tables of the compiled engine, for a run that begins with the frames f."""
        families, (ranges, terms) = self.parts.families, self._turn_counters()
        length, speeds = self._speeds(f)
        return job.Machine(
            bodies=self._body_tables(),
            parts=PartTables(*(family.table(self.graph, self.tiles) for family in families)),
            turn_counters=ranges,
            turn_counter_terms=terms,
            schedule=self.schedule,
            template=self._template(),
            kinds=self._kinds(),
            speeds=speeds,
            gyration=self._gyration(),
            length=length,
            unloaded=not self._acted_on and not self.mechanism.redundant,
            dry=any(family.dry for family in families),
            repeated=self._repeated(),
            exact=self._exact,
            linear=self._linear,
            keeping=any(isinstance(law, Law) for law in self.parts.laws),
            costly=self._costly,
            hardly=self.mechanism.redundant or self._acted_on or self._slender,
            stabilised=np.ones(1, dtype=np.uint32) if self.stabilised else None,
            spins=self._spin_tables(),
            arms_at=self._arms_at,
            auxiliary=self._auxiliary,
        )

    @property
    def _arms_at(self) -> int:
        """Where the directors are that forces act on."""
        mean = self.turning is None or self.turning.mean
        return tables.DIRECTORS if mean else tables.ARMS

    @property
    def _acted_on(self) -> bool:
        """Whether more than weight and joints acts on bodies."""
        return any(family.loads and len(family) for family in self.parts.families)

    @property
    def _slender(self) -> bool:
        """Whether some body has hardly any inertia about an axis."""
        euler = self.mechanism.inertia[self.mechanism.unknowns.turns, 1:]
        moments = euler.sum(axis=1, keepdims=True) - euler
        return bool(np.any(moments.min(axis=1) < SLENDER * moments.max(axis=1)))

    @property
    def _lopsided(self) -> bool:
        """Whether some bodies are much heavier than others, and joints close loops."""
        inertia, turns = self.mechanism.inertia, self.mechanism.unknowns.turns
        kinds = [kind[kind > 0] for kind in (inertia[:, 0], inertia[turns, 1:].sum(axis=1))]
        differ = any(kind.size and kind.max() > LOPSIDED * kind.min() for kind in kinds)
        return differ and has_loops(self.parts.joints.pairs[0], self.count)

    @property
    def _exact(self) -> bool:
        """Whether the matrix is that of Newton's method: the turn of other arms is left out."""
        acted_on = self.parts.joints.places.size or self._acted_on
        arms_at = self._arms_at == tables.DIRECTORS or not acted_on
        lacking = self.graph.decoupled and any(family.lacking for family in self.parts.families)
        complete = all(family.exact for family in self.parts.families)
        return bool(complete and arms_at and not lacking and not self.mechanism.redundant)

    @property
    def _costly(self) -> bool:
        """Whether a matrix is kept for the next steps."""
        families = self.parts.families
        hard = self.mechanism.redundant or any(family.dry for family in families)
        return not hard and any(family.costly and len(family) for family in families)

    @property
    def _linear(self) -> bool:
        """Whether Newton's equations are linear but for the turns of bodies."""
        plain = not self.stabilised and self.turning is None
        return plain and self._exact and all(family.linear for family in self.parts.families)

    def _spin_tables(self) -> tables.Spins | None:
        if self.turning is None:
            return None
        everyone = np.arange(self.count)
        nodes, auxiliaries = self.graph.motion(everyone)[:, 1:], self.graph.auxiliaries(everyone)
        # With one auxiliary node it is the rest, and velocity and momentum are not there.
        none = np.full((self.count, 3 - self._auxiliary), self.graph.nodes)
        named = np.hstack([nodes, none, auxiliaries])
        return tables.Spins(
            inertia=real(self.mechanism.moments),
            places=index(named[:, 1:], self.tiles.table(named, named)),
            form=self.turning.form,
            mean=self.turning.mean,
        )

    def _kinds(self) -> Index:
        """Return which of the sizes measures each node's equations."""
        kinds = np.full(self.graph.nodes, tables.OF_CLOSURE, dtype=np.uint32)
        kinds[: self.graph.first_joint] = tables.OF_ROTATION
        moving = np.flatnonzero(~self.graph.idle)
        for nodes in (self.graph.motion(moving), self.graph.momentum(moving)):
            kinds[nodes[:, 0]] = tables.OF_TRANSLATION
        if self.stabilised:
            kinds[self.graph.first_joint :: 2] = tables.OF_POSITION
        return kinds

    def _speeds(self, f: Vector) -> tuple[float, Real]:
        """Return the longest lever arm [m], and what makes rates of constraints speeds."""
        length, rows = self.mechanism.speeds(f)
        return length, self.placed(rows)

    def placed(self, rows: Real) -> Real:
        """Return what belongs to the equations of constraints (..., rows) by their nodes and slots.

        The rest is 1; (..., nodes, 3).
        """
        node, slot = self.places.T[:2]
        found = np.ones((*rows.shape[:-1], self.graph.nodes, SLOTS))
        own = rows[..., self.mechanism.held.rigid :]
        again = node.size // max(1, own.shape[-1])
        found[..., node, slot] = np.tile(own, again)
        return found

    def _gyration(self) -> Real:
        """Return the least and the greatest radius of gyration of bodies that turn [m]."""
        inertia = self.mechanism.inertia
        return radii_of_gyration(inertia[:, 0], inertia[:, 1:], self.mechanism.unknowns.turns)

    @cached_property
    def _inertia(self) -> Real:
        """Mass and Euler values of bodies; elastic bodies have theirs in tables of their own."""
        inertia = self.mechanism.inertia.copy()
        for _, parts in self._elastic:
            inertia[parts] = 0.0
        return inertia

    def _body_tables(self) -> tables.Part:
        mass, weight = self._inertia, self.mechanism.weight
        light = np.vstack([mass[:, 1:] == 0, np.zeros(3, dtype=bool)])
        flat = np.where(light.any(axis=1), light.argmax(axis=1), 3)
        at, everyone = self.tiles.at, np.append(np.arange(self.count), GROUND)
        (KT, KR), (T, R) = self.graph.motion(everyone).T, self.graph.momentum(everyone).T
        unknowns = self.mechanism.unknowns if self.turning is None else self.turning.unknowns
        places = [T, R, at(T, KT), at(R, KR), self.condensed, flat]
        places += [self.graph.first, unknowns.first]
        if self.stabilised:
            places += [KT, KR, at(KT, KT), at(KT, T), at(T, T), at(KR, KR), at(KR, R), at(R, R)]
        return tables.Part(real(2 * mass, weight), index(*places))

    def _turn_counters(self) -> tuple[Index, tables.Part]:
        """Return the angles of joints, each a cosine and a sine, and the products in them."""
        forms = self.layout.angle_forms
        along = lines(forms, np.full(forms.m // 2, 2))
        p = along.products
        terms = index(p.kind, self.graph.ends(p.ends), along.form)
        return index(along.ranges), tables.Part(real(p.numbers), terms)

    def _template(self) -> Template:
        """Return what tiles hold before bodies and joints add to them."""
        template = self._constants(self.mechanism.masses)
        template += self._of_masses(np.arange(self.count), self._inertia[:, 0])
        filled = np.flatnonzero(template[: self.tiles.count].any(axis=(1, 2)))
        return Template(pack(template[filled]), filled.astype(np.uint32))

    def _constants(self, mass: Real) -> Real:
        """Return what families and absent equations put into tiles; (tiles + 1, 3, 3)."""
        template = np.zeros((self.tiles.count + 1, SLOTS, SLOTS))
        self._leave_out(template)
        for family in self.parts.families:
            family.add_constants(template, self.graph, self.tiles, mass)
        return template

    def _of_masses(self, bodies: NDArray[np.intp], mass: Real) -> Real:
        """Return what the masses of some bodies put into tiles."""
        template = np.zeros((self.tiles.count + 1, SLOTS, SLOTS))
        if not self.stabilised:
            T = self.graph.motion(bodies)[:, 0]
            np.add.at(template, self.tiles.at(T, T), 2 * mass[:, None, None] * np.eye(SLOTS))
        return template

    def template_terms(self, filled: Index, bodies: NDArray[np.intp]) -> tuple[Real, Real]:
        """Return factors of 1 / m and of m of some bodies in filled tiles of the template.

        Translations that are eliminated leave behind inverse masses; (bodies, filled, 12) each.
        """
        far = np.full(self.count, np.inf)
        without, terms = self._constants(far), list[tuple[Real, Real]]()
        for body in bodies.tolist():
            unit = np.where(np.arange(self.count) == body, 1.0, far)
            inverse = self._constants(unit) - without
            own = self._of_masses(np.array([body]), np.ones(1))
            terms.append((pack(inverse[filled]), pack(own[filled])))
        found = np.array(terms).reshape(len(bodies), 2, len(filled), 12)
        return found[:, 0], found[:, 1]

    def _leave_out(self, template: Real) -> None:
        """Keep multipliers at zero that have no equation."""
        filled = np.zeros((self.graph.joints, SLOTS), dtype=bool)
        filled[tuple(self.parts.joints.places.T)] = True
        joint, slot = np.nonzero(~filled)
        for node in (self.graph.position(joint), self.graph.velocity(joint)):
            template[self.tiles.at(node, node), slot, slot] = 1.0

    def _repeated(self) -> tables.Repeated:
        """Return the equations of loops in which some repeat others, none of them left out."""
        graph, joints, looped = self.graph, self.parts.joints, self.mechanism.looped
        group = np.unique(joints.places[looped - self.mechanism.rigid, 0])
        node = graph.velocity(group)
        if self.stabilised:
            node = np.append(node, graph.position(group))
        places = index(node, self.tiles.at(node, node))
        out, sizes, most = np.zeros((3, graph.nodes, SLOTS))
        return tables.Repeated(places, out, sizes, most, np.ones(1))


def radii_of_gyration(mass: Real, euler: Real, turns: NDArray[np.bool_]) -> Real:
    """Return the least and the greatest of bodies that turn [m]; (..., 2).

    Of masses (..., bodies) and principal values of Euler tensors (..., bodies, 3).
    """
    with np.errstate(divide="ignore", invalid="ignore"):  # of what is no body
        radii = np.sqrt(euler.sum(axis=-1) / mass)[..., turns]
    if not radii.shape[-1]:
        return np.tile([0.0, 1.0], (*radii.shape[:-1], 1))
    return np.stack([radii.min(axis=-1), radii.max(axis=-1)], axis=-1)
