"""Potentials of several points and directions of bodies, with discrete gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.bodies.body import Body, loaded_body
from poinsot.errors import InputError, failure
from poinsot.frames.forms import components
from poinsot.frames.stacks import stack
from poinsot.inputs import function, vector3
from poinsot.kernels.algebra import (
    Array,
    Mat,
    Vec,
    add_tile,
    axpy,
    combine,
    cross,
    largest,
    multiply,
    scale,
    size,
    skew_times,
    sub,
    times,
    vector,
)
from poinsot.kernels.cayley import lever
from poinsot.kernels.kernel import arithmetic, kernel
from poinsot.kernels.laws import Called, Law, call_law, law_energy
from poinsot.kernels.nodes import Graph, Tiles
from poinsot.kernels.step import Step, arm, look_inside, measure, push
from poinsot.kernels.tables import RR, Addresses, Index1, Index2, Real2, frame, half_turn
from poinsot.parts.family import Assembly, Family, Indices, Kernels, addresses, index, real
from poinsot.parts.field_formulas import FieldFormula
from poinsot.parts.field_laws import FieldLaw
from poinsot.parts.forces import Force, Placed
from poinsot.parts.joint import Joint
from poinsot.parts.potentials import FieldPotential, weights
from poinsot.ph.formulas import Formula
from poinsot.ph.matrices import Vector


@dataclass(frozen=True, eq=False)
class Field(Force):
    """A potential V of points and directions of bodies.

    Parameters
    ----------
    points, directions : sequence of (body, vector)
        Body-fixed points [m] and directions, given in world axes at the start.
    potential : callable or Formula
        V(points, directions) [J] with arrays of shape (points, 3) and (directions, 3) in world
        axes; or a formula of their components, such as `Formula("9.81*z + x**4", ("x", "y", "z"))`
        for one point.
    gradient : callable
        (points, directions) -> the two arrays of derivatives. Default: finite differences. Not
        needed for formulas.
    """

    potential: Callable[[NDArray[np.float64], NDArray[np.float64]], float] | Formula
    points: Sequence[tuple[Body, ArrayLike]] = ()
    directions: Sequence[tuple[Body, ArrayLike]] = ()
    gradient: Callable[..., tuple[ArrayLike, ArrayLike]] | None = None

    def __post_init__(self) -> None:
        """Check bodies and vectors, and copy the vectors."""
        function(self.potential, "Field: potential")
        for label in ("points", "directions"):
            pairs = []
            for pair in getattr(self, label):
                try:
                    body, vector = pair
                except (TypeError, ValueError):
                    raise InputError(
                        f"Field: {label} are pairs (body, vector), got {pair!r}"
                    ) from None
                what = f"Field: {label}"
                pairs.append((loaded_body(body, what), vector3(vector, what)))
            object.__setattr__(self, label, tuple(pairs))
        if isinstance(self.potential, Formula):
            self._check_formula(self.potential)

    def _check_formula(self, formula: Formula) -> None:
        points, directions = len(self.points), len(self.directions)
        if not formula.is_of(3 * (points + directions)):
            raise InputError(
                f"Field: its formula is of ({', '.join(formula.variables)}); it must be one "
                f"formula of the {3 * (points + directions)} components of {points} point(s), "
                f"then of {directions} direction(s)"
            )
        if self.gradient is not None:
            raise InputError("Field: the gradient of a formula is exact; leave gradient out")

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of its points and directions."""
        return tuple(body for body, _ in (*self.points, *self.directions))

    def place(self, name: str, joints: Mapping[str, Joint]) -> Placed:
        """Return its potential on the components of its points and directions."""
        at = [(body, np.asarray(w, dtype=float)) for body, w in self.points]
        along = [(body, np.asarray(w, dtype=float)) for body, w in self.directions]
        bodies = tuple(dict.fromkeys(body.index for body, _ in (*at, *along)))
        if not bodies:
            raise InputError(f"force '{name}': give at least one point or direction")
        vectors = [body.on(w) for body, w in at] + [body.along(w) for body, w in along]
        forms = stack([f.among(bodies) for v in vectors for f in components(v)], len(bodies))
        split, potential = len(at), self.potential
        scales = np.repeat([_length(at), 1.0], [split, len(along)])
        if isinstance(potential, Formula):
            law = FieldFormula(potential, tuple(weights(scales).tolist()))
            return [FieldPotential(name, bodies, forms, law.V, scales, law.dV, law.ddV, law)], []

        # Most fields act on points alone: no directions are cut off in every call.
        none = np.zeros((0, 3))

        def split_up(a: Vector) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            rows = a.reshape(-1, 3)
            return (rows[:split], rows[split:]) if along else (rows, none)

        def refused(what: str, a: Vector, error: Exception) -> InputError:
            places = ", ".join(map(str, a.reshape(-1, 3).tolist()))
            return InputError(f"force '{name}': {what} {failure(error)}, at {places}")

        def V(a: Vector) -> float:
            try:
                return float(potential(*split_up(a)))
            except Exception as error:
                raise refused("potential", a, error) from error

        slopes = self.gradient
        if slopes is None:
            return [FieldPotential(name, bodies, forms, V, scales)], []

        def dV(a: Vector) -> Vector:
            found = np.empty((a.size // 3, 3))
            try:
                by_points, by_directions = slopes(*split_up(a))
                found[:split] = by_points
                if along:
                    found[split:] = by_directions
            except Exception as error:
                raise refused("gradient", a, error) from error
            return found.reshape(-1)

        return [FieldPotential(name, bodies, forms, V, scales, dV)], []


def _length(points: Sequence[tuple[Body, Vector]]) -> float:
    """Return the largest length of points and their bodies [m]; 1 if they have none."""
    found = [0.0]
    for body, world in points:
        mass, *euler = body.inertia
        across = sqrt(sum(euler) / mass) if mass > 0 else 0.0
        found += [across, *(float(np.linalg.norm(a)) for a in (world, world - body.position))]
    return max(found) or 1.0


# -- in the compiled engine ------------------------------------------------------------------------


class FieldTable(NamedTuple):
    """Potentials of many vectors, which are points (`moves` 1) or directions (0) of bodies.

    `numbers` (vectors, 4) are moves and X in director axes, `bodies` (vectors,) their bodies.
    Field k has vectors first[k]:first[k+1]; `pairs` (pairs of its vectors, 4), from first[k, 1]
    on, are the tiles of (T, R) of either.
    """

    numbers: Real2
    bodies: Index1
    first: Index2
    pairs: Index2
    laws: Addresses


@kernel
def fields_act(fields: FieldTable, step: Step, tiles: Array) -> None:
    """Add residuals, and tiles unless None."""
    h, state, stage, given, found = step.h, step.state, step.stage, step.given, step.found
    for k in range(fields.laws.size):
        first, last = fields.first[k, 0], fields.first[k + 1, 0]
        count = 3 * (last - first)
        for i in range(first, last):
            start, middle = _vector(fields, i, state), _vector(fields, i, stage)
            j = 3 * (i - first)
            for n in range(3):
                given[j + n] = start[n]
                given[count + j + n] = 2.0 * middle[n] - start[n]
        call_law(fields.laws[k], given, found, tiles is not None)
        for i in range(first, last):
            b, j, X = fields.bodies[i], 3 * (i - first), vector(fields.numbers, i, 1)
            z, (_, D) = (found[j], found[j + 1], found[j + 2]), frame(stage, b)
            torque = scale(h, cross(arm(step, b, X), z))
            force = scale(h * fields.numbers[i, 0], z)
            push(step, b, force, torque)
            measure(step, size(force), size(torque))
            if tiles is not None:
                P = times(0.5 * h * h, lever(half_turn(stage, b), combine(X, D)))
                add_tile(tiles, step.bodies[b, RR], skew_times(z, P))
        if tiles is not None:
            _add_stiffness(fields, k, step, tiles)


@arithmetic
def _vector(fields: FieldTable, i: int, motion: Array) -> Vec:
    position, D = frame(motion, fields.bodies[i])
    return axpy(fields.numbers[i, 0], position, combine(vector(fields.numbers, i, 1), D))


@kernel
def _add_stiffness(fields: FieldTable, k: int, step: Step, tiles: Array) -> None:
    """Add h (I; [rho_i]) dz_i/da_j (h I, -h P_j) for all pairs of vectors of a field."""
    h, stage, found, numbers, bodies = step.h, step.stage, step.found, fields.numbers, fields.bodies
    first, last, place = fields.first[k, 0], fields.first[k + 1, 0], fields.first[k, 1]
    count = 3 * (last - first)
    for i in range(first, last):
        rho = combine(vector(numbers, i, 1), frame(stage, bodies[i])[1])
        for j in range(first, last):
            b = bodies[j]
            rho_j = combine(vector(numbers, j, 1), frame(stage, b)[1])
            slope = times(h * h, _slope(found, count, count, i - first, j - first))
            inside = largest(slope) / abs(h) * size(_vector(fields, j, stage))
            way = size(sub(_vector(fields, i, stage), _vector(fields, i, step.state)))
            look_inside(
                step, numbers[i, 0] * inside, inside * size(rho), inside * 2.0 / abs(h) * way
            )
            by_v = times(numbers[j, 0], slope)
            by_w = times(-1.0, multiply(slope, lever(half_turn(stage, b), rho_j)))
            pair = fields.pairs[place]
            add_tile(tiles, pair[0], times(numbers[i, 0], by_v))
            add_tile(tiles, pair[1], times(numbers[i, 0], by_w))
            add_tile(tiles, pair[2], skew_times(rho, by_v))
            add_tile(tiles, pair[3], skew_times(rho, by_w))
            place += 1


@arithmetic
def _slope(found: Array, start: int, count: int, i: int, j: int) -> Mat:
    """Return block (i, j) of a matrix (count, count) that starts at a place."""
    a = start + 3 * i * count + 3 * j
    b = a + count
    c = b + count
    return (
        (found[a], found[a + 1], found[a + 2]),
        (found[b], found[b + 1], found[b + 2]),
        (found[c], found[c + 1], found[c + 2]),
    )


@kernel
def field_energy(fields: FieldTable, state: Array, step: Step) -> float:
    """Return the energy of all fields [J]."""
    total = 0.0
    for k in range(fields.laws.size):
        first, last = fields.first[k, 0], fields.first[k + 1, 0]
        for i in range(first, last):
            at, j = _vector(fields, i, state), 3 * (i - first)
            for n in range(3):
                step.given[j + n] = at[n]
        total += law_energy(fields.laws[k], step.given, step.found)
    return total


class Fields(Family):
    """Potentials of many vectors."""

    Table: ClassVar = FieldTable
    kernels: ClassVar = Kernels(fields_act, fields_act, energy=field_energy)

    def __init__(self, assembly: Assembly) -> None:
        found = [p for p in assembly.potentials if isinstance(p, FieldPotential)]
        self._laws = [_law(p) for p in found]
        self.counts = np.array([p.forms.m // 3 for p in found], dtype=np.intp)
        self.body, self.weights = np.zeros(0, dtype=np.intp), np.zeros((0, 4))
        for p in found:
            at, (body, weights, _) = p.forms.terms.a[::3], p.forms.vectors  # three components each
            self.body = np.append(self.body, np.array(p.bodies)[body[at, 0]])
            self.weights = np.vstack([self.weights, weights[at, 0]])

    def __len__(self) -> int:
        """Return their number."""
        return self.counts.size

    @property
    def laws(self) -> list[Called | None]:
        """Their discrete gradients."""
        return [*self._laws]

    @property
    def moved(self) -> Indices:
        """The bodies of points."""
        return np.asarray(self.body[self.weights[:, 0] != 0])

    @property
    def _vectors(self) -> list[Indices]:
        """The vectors of every field."""
        return np.split(np.arange(self.body.size), np.cumsum(self.counts)[:-1])

    def meet(self, graph: Graph) -> None:
        """Join all bodies of a field with each other."""
        for k in self._vectors:
            moves = self.weights[k, 0] != 0
            graph.meet(graph.of_bodies(self.body[k], moves=moves).reshape(1, -1))

    def table(self, graph: Graph, tiles: Tiles) -> FieldTable:
        """Return vectors, bodies and tiles."""
        pairs = [np.zeros((2, 0), dtype=np.intp)]
        pairs += [np.array(np.meshgrid(k, k, indexing="ij")).reshape(2, -1) for k in self._vectors]
        i, j = self.body[np.hstack(pairs)]
        first = np.cumsum(
            np.vstack([[0, 0], np.column_stack([self.counts, self.counts**2])]), axis=0
        )
        return FieldTable(
            numbers=real(self.weights),
            bodies=self.body.astype(np.uint32),
            first=index(first),
            pairs=index(tiles.table(graph.momentum(i), graph.motion(j))),
            laws=addresses(self.laws),
        )


def _law(p: FieldPotential) -> Called:
    size, code = p.forms.m, None if p.formula is None else p.formula.machine_code
    if code is not None:
        return code

    return Law(FieldLaw(p), 2 * size, size, size**2)
