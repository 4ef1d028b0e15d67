"""Simulate mechanisms in the compiled engine, block by block."""

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.engine import extrapolation, job, machine_code, prediction
from poinsot.engine.memory import arrays
from poinsot.engine.ordering import has_loops
from poinsot.engine.tiles import aligned
from poinsot.garbage import no_collection
from poinsot.kernels import tables
from poinsot.kernels.laws import Law, Remembering
from poinsot.kernels.sampling import MULTIPLIER, no_controllers
from poinsot.parts.networks import SAME, PortNetworks
from poinsot.parts.relaxing_connections import Relaxations
from poinsot.ph.matrices import Vector
from poinsot.ph.runner import Block, Clock, Controls, Memory, Runner, Totals
from poinsot.ph.scheme import Scheme
from poinsot.ph.stages import EPS, Newton
from poinsot.result.history import Saved
from poinsot.systems.compiled.machine import Parts, Tables, Turning
from poinsot.systems.directors import DirectorForm
from poinsot.systems.mechanism import Mechanism
from poinsot.systems.quaternions.systems import QuaternionForm
from poinsot.systems.relaxing import RelaxingSystem, with_springs

Array = NDArray[np.float64]
MechanismSystem = DirectorForm | QuaternionForm

#: So many steps are taken with the exact tangent where the decoupled one fails.
THOROUGH = 256
#: So few where constraints that are left out are no good combinations of others.
FEW = 1
#: Gap of a constraint that is left out, in multiples of its round-off, that asks for another
#: choice; and how much more of it there may be right after that.
GAP, LARGER_GAP = 64.0, 8.0
#: Corrections that a step of a closed loop may take: those that need more go through a singular
#: position, or astray, and the reference engine tells these apart.
PATIENCE = 10
#: So many times do coefficients of what is left out count, see `engine.redundant.COEFFICIENT`.
STRICT = 2.0


class MechanismRunner(Runner):
    """The state of a run: two buffers for the motion, the stage, and what is carried on."""

    #: Columns of a state; and of a stage, unknowns at most.
    columns, width = 30, 27

    #: How bodies in quaternions turn.
    turning: Turning | None = None

    @no_collection()
    def __init__(
        self, system: MechanismSystem, scheme: Scheme, x: Vector, h: float, options: Newton
    ) -> None:
        self.system, self.options = system, options
        self.parts = Parts.of(system.mechanism, system.layout)
        self._tables: dict[bool, Tables] = {}
        made = self.plan
        self.machine, self.places = made.machine(system.directors(x)), made.places
        self.bodies = len(system.layout.bodies)
        self.networks = next(f for f in self.parts.families if isinstance(f, PortNetworks))
        self.ports = self._ports()
        self.state, self.ahead, self.before = (self.rest() for _ in range(3))
        nodes, moving = made.graph.nodes + 1, self.bodies + 1
        stage = np.zeros((moving, self.width))
        stage[:, : tables.VELOCITY] = self.state[:, : tables.VELOCITY]
        if self.turning is not None:
            stage[:, tables.ARMS :] = np.eye(3).reshape(-1)
        weights = prediction.weights(scheme.substeps)
        remembered = prediction.RING + weights.shape[2] if weights.size else extrapolation.ROWS
        self.carried = job.Run(
            gap=np.zeros((nodes, 3)),
            stage=stage,
            multiplier=np.zeros((nodes, 3)),
            past=aligned(moving, remembered, 4 * made.graph.of_body),
            past_multiplier=aligned(nodes, remembered, 4),
            order=np.ones(1, dtype=np.uint32),
            turns=np.zeros((2, self.machine.turn_counters.shape[0])),
            weights=weights,
        )
        self.work = made.work(*self.parts.room)
        self._other: tuple[job.Machine, job.Work] | None = None
        #: Of the next steps, how many are still to be taken with the exact tangent; and whether the
        #: next one has been tried without it, and was not solved.
        self.thorough, self.tried = 0, False
        self.h = h
        self.sampling, self._control_in_python = no_controllers(), False
        self._row_sizes = np.zeros_like(self.machine.repeated.sizes)
        if system.mechanism.redundant:
            rows = system.mechanism.gap_sizes(system.directors(x))[system.mechanism.rigid :]
            node, slot = self.places[: rows.size].T[:2]
            self._row_sizes[node, slot] = rows
            self.machine.repeated.most[:] = GAP * EPS * self._row_sizes
        self._leave_out(~loop.repeated for loop in system.mechanism.loops)
        self.start(x, system.angles(x))
        if not system.stabilised:
            gaps = system.mechanism.held.constraints(system.directors(x))
            node, slot = self.places[: gaps.size].T[:2]
            self.carried.gap[node, slot] = gaps

    def _ports(self) -> NDArray[np.uint32]:
        """Return the columns of ports, and whether energy comes from outside; (ports, 3)."""
        closed = {int(k) for each in self.networks.networks for k in each.joined}
        own = [
            (piece.start, piece.stop, piece.start not in closed)
            for piece in self.system.port_slices.values()
        ]
        return np.array([*own, *self.networks.ports], dtype=np.uint32).reshape(-1, 3)

    # -- what depends on the coordinates ------------------------------------------------------

    @abstractmethod
    def _fill(self, x: Vector) -> Array:
        """Set the motion of bodies from a state; return velocities and angular velocities."""

    @abstractmethod
    def _motion(self) -> Vector:
        """Return the motion of bodies as the beginning of a state."""

    @abstractmethod
    def _multipliers(
        self, h: float, end: Vector, middle: Vector, u: Vector, turned: Vector
    ) -> Vector:
        """Return the multipliers of a step of length h [s], its end and middle, and inputs u.

        `turned` are the angles at its end, counted over turns [rad].
        """

    # -- tables -------------------------------------------------------------------------------

    def tables(self, *, decoupled: bool = False) -> Tables:
        """Return the mechanism on its way to a machine."""
        system = self.system
        decoupled = decoupled and has_loops(self.parts.joints.pairs[0], len(system.layout.bodies))
        if decoupled not in self._tables:
            known = system.mechanism, system.layout, self.parts, system.stabilised
            self._tables[decoupled] = Tables(*known, decoupled, self.turning)
        return self._tables[decoupled]

    @property
    def plan(self) -> Tables:
        """What the machine that is tried first was made of."""
        return self.tables(decoupled=self._decouples)

    @property
    def _decouples(self) -> bool:
        """Whether a machine with fewer tiles is tried first."""
        return not self.system.stabilised and not self.system.mechanism.elastic

    @property
    def _thorough(self) -> tuple[job.Machine, job.Work]:
        """The machine with the exact tangent, for steps on which the decoupled one fails."""
        if self._other is None:
            self._other = self.thorough_machine()
        return self._other

    def thorough_machine(self) -> tuple[job.Machine, job.Work]:
        """Return another machine for this run, with the exact tangent."""
        full, repeated = self.tables(), self.machine.repeated
        machine = full.machine(self.system.directors(self.x))
        # What is left out is the same; no matrix is kept, so that nothing is to be remembered.
        repeated = repeated._replace(places=machine.repeated.places)
        return machine._replace(repeated=repeated, costly=False), full.work(*self.parts.room)

    # -- constraints that repeat others -------------------------------------------------------

    def _leave_out(self, kept: Iterable[NDArray[np.bool_]]) -> bool:
        """Leave all rows of loops out but those that are kept; tell whether that is new."""
        mechanism, before = self.system.mechanism, self.machine.repeated.out.copy()
        rows = np.zeros(mechanism.m, dtype=bool)
        for loop, some in zip(mechanism.loops, kept, strict=True):
            rows[loop.rows] = ~some
        joints = rows[mechanism.rigid :][: self.parts.joints.places.shape[0]]
        node, slot = self.places[:, :2].T
        out = np.tile(joints, self.places.shape[0] // max(1, joints.size))
        repeated = self.machine.repeated
        repeated.out[node, slot] = out
        repeated.sizes[:] = self._row_sizes / np.where(repeated.out > 0, STRICT, 1.0)
        return not np.array_equal(before, repeated.out)

    def _choose(self) -> bool:
        """Choose anew which constraints to leave out, here and now; tell whether others are."""
        f, carried = self.system.directors(self.x), self.carried
        if not self._leave_out(loop.best(f) for loop in self.system.mechanism.loops):
            return False
        # Forces go other ways from here on.
        carried.multiplier[:], carried.past_multiplier[:], carried.order[:] = 0.0, 0.0, 1
        self.known = 0
        return True

    # -- the run ------------------------------------------------------------------------------

    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from a state with angles followed over turns; no step before it is known."""
        carried, twists = self.carried, self._fill(x)
        groups = carried.past.shape[2] // 4
        copies = groups // 2 if self.system.stabilised else 1
        carried.stage[:-1, tables.V : tables.V + 6 * copies] = np.tile(twists, copies)
        node, slot, column, times_h = self.places.T
        carried.multiplier[node, slot] = x[column] * np.where(times_h, self.h, 1.0)
        carried.multiplier[:-1] *= 1.0 - self.machine.repeated.out
        carried.past[:], carried.past_multiplier[:], carried.order[:] = 0.0, 0.0, 1
        self.work.factorised[:] = 0
        self.thorough, self.tried = 0, False
        unknowns = carried.stage[:, tables.V : tables.V + 3 * groups]
        carried.past[:, 0].reshape(-1, groups, 4)[:, :, :3] = unknowns.reshape(-1, groups, 3)
        carried.past_multiplier[:, 0, :3] = carried.multiplier
        for family in self.parts.families:
            family.start(self.system.directors(x), self.system.layout.counted(turned))
        angle = self.system.angles(x)
        carried.turns[0], carried.turns[1] = np.sin(angle), 0.0
        self.base, self.known = turned - angle, 0
        self._count_turns_from_here()

    def _count_turns_from_here(self) -> None:
        """Tell controllers where angles begin, if any of them is there."""
        if self.sampling.base.size:
            self.sampling.base[:] = self.base

    @property
    def x(self) -> Vector:
        """The state, with multipliers that the engine leaves out at zero."""
        node, slot, column, times_h = self.places.T
        x, motion = np.zeros(self.system.n), self._motion()
        x[: motion.size] = motion
        multiplier = self.carried.past_multiplier[node, 0, slot]
        x[column] = multiplier / np.where(times_h, self.h, 1.0)
        return x

    def memory(self) -> Memory:
        """Return a copy of everything that the next steps depend on."""
        found = {name: array.copy() for name, array in self._remembered()}
        found |= {f"law {k}": law.memory for k, law in enumerate(self._remembering)}
        counts = self.known, self.thorough, self.tried
        return found | {"base": self.base.copy(), "h": np.array(self.h), "counts": np.array(counts)}

    def restore(self, memory: Memory) -> None:
        """Go back to where `memory` was called."""
        for name, array in self._remembered():
            array[...] = memory[name]
        for k, law in enumerate(self._remembering):
            law.restore(memory[f"law {k}"])
        self.base, self.h = memory["base"].copy(), float(memory["h"])
        self.known, self.thorough, tried = memory["counts"].tolist()
        self.tried = bool(tried)

    @property
    def _remembering(self) -> list[Remembering]:
        """Laws that remember."""
        functions = (law.function for law in self.parts.laws if isinstance(law, Law))
        return [each for each in functions if isinstance(each, Remembering)]

    def _remembered(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield every array that steps write to or read from, but for places, by name."""
        own = (self.state, self.ahead, self.before, *arrays(self.carried), self.networks.h)
        machine, sampling = (
            [each for each in arrays(table) if each.dtype != np.uint32]
            for table in (self.machine, self.sampling)
        )
        # Where it costs little, every step makes its own matrix.
        matrix = [self.work.tiles, *arrays(self.work.refinement)]
        made = set() if self.machine.costly else {id(each) for each in matrix}
        work = [each for each in arrays(self.work) if id(each) not in made]
        records = {"own": own, "machine": machine, "sampling": sampling, "work": work}
        for what, found in records.items():
            for k, array in enumerate(found):
                yield f"{what} {k}", array

    def as_job(
        self, clock: Clock, first: int, u: Array, save_every: int, totals: Totals
    ) -> job.Job:
        """Return what machine code is asked: steps from number `first` on with inputs u.

        The job reads and writes the arrays of this runner.
        """
        times = clock.span(first, first + u.shape[0])
        u, times = self._columns(u, times)
        sums = np.concatenate([np.zeros(job.SUPPLIED), totals.supplied])
        sums[job.START], sums[job.LOST] = totals.energy0, totals.lost
        sums[job.LEAST] = np.inf
        self.sampling.past[0] = self.h
        return job.Job(
            self.machine,
            self.places,
            self.ports,
            times,
            u,
            np.zeros_like(u),
            first,
            clock.steps,
            save_every,
            self.options.rtol,
            self._patience,
            self.known,
            self.state,
            self.ahead,
            self.before,
            self.carried,
            self.work,
            sums,
            self._room(u.shape[0] // save_every + 2),
            self.sampling,
        )

    def advance(self, clock: Clock, first: int, u: Array, save_every: int, totals: Totals) -> Block:
        """Take steps from number `first` on with inputs u (steps, m), as far as they are solved.

        A step without others before it has a poor guess, and if a loop ends in a singular position
        there, Newton's method may go to another branch: the reference engine takes it.
        """
        closed, held = self.system.layout.closed, self.system.mechanism.held
        if self.known or not closed:
            return self._advance(clock, first, u, save_every, totals)
        before, sums, start = self.memory(), totals.copy(), self.system.directors(self.x)
        block = self._advance(clock, first, u[:1], save_every, totals)
        end = self.system.directors(self.x)
        singular = any(loop.ends_singular(held, start, end) for loop in closed)
        if not block.steps or (u.shape[0] == 1 and not singular):
            return block
        self.restore(before)
        vars(totals).update(vars(sums))
        if singular:
            return replace(block, steps=0)
        return self._advance(clock, first, u, save_every, totals)

    def _advance(
        self, clock: Clock, first: int, u: Array, save_every: int, totals: Totals
    ) -> Block:
        """Take steps as far as they are solved."""
        asked = self.as_job(clock, first, u, save_every, totals)
        times, u, y, sums, saved = asked.times, asked.u, asked.y, asked.sums, asked.saved

        def take(machine: job.Machine, work: job.Work, steps: int) -> tuple[int, int]:
            span, known = times[: steps + 1], self.known
            part = asked._replace(machine=machine, work=work, times=span, known=known)
            return machine_code.function(self.form)(part)

        began, (taken, kept) = perf_counter(), (0, 0)
        for machine, work, steps in self._machines(u.shape[0]):
            taken, kept = take(machine, work, steps)
            if taken:
                self.tried = taken < steps and not self.thorough
                self.thorough = max(0, self.thorough - taken) if taken == steps else 0
                break
        seconds = perf_counter() - began
        self.machine.repeated.slack[0] = 1.0
        for _ in range(taken % 3):
            self.state, self.ahead, self.before = self.ahead, self.before, self.state
        if taken:
            self.h, self.known = float(times[taken] - times[taken - 1]), self.known + taken
        totals.lost, totals.supplied = float(sums[job.LOST]), sums[job.SUPPLIED :]
        rows = self._saved(saved, slice(0, kept), times, u, y)
        due = taken == 0 or (kept > 0 and saved.step[kept - 1] == taken - 1)
        pending = None if due else self._saved(saved, slice(kept, kept + 1), times, u, y)
        if taken:
            last = rows if pending is None else pending
            totals.turn = last.turned[-1].copy()
        return Block(
            steps=taken,
            reached=float(times[taken]),
            newton_iterations=int(sums[job.ITERATIONS]),
            residual_max=float(sums[job.RESIDUAL]),
            balance_error_max=float(sums[job.ERROR]),
            dissipation_min=float(sums[job.LEAST]),
            seconds=seconds,
            saved=rows,
            pending=pending,
        )

    @property
    def _patience(self) -> int:
        """The corrections that a step may take; friction that sticks may take any number."""
        loops = self.system.layout.closed and not self.machine.dry
        return min(self.options.max_iterations, PATIENCE if loops else self.options.max_iterations)

    def _columns(self, u: Array, times: Vector) -> tuple[Array, Vector]:
        """Return the inputs of steps with all columns that kernels read, and the steps' ends [s].

        Networks have matrices for steps of one size: a shorter one at the end comes by itself.
        """
        own = self.system.m
        inputs = self.system.mechanism.with_targets(u[:, :own], times[:-1])
        if not (len(self.networks) and len(u)):
            return inputs, times
        h = np.diff(times)
        if h.size:
            self.networks.prepare(float(h[0]))
        same = abs(h - self.networks.h) <= SAME * abs(h)
        count = same.size if same.all() else int(np.argmin(same))
        states = np.zeros((count, self.networks.states.shape[1]))
        return np.hstack([inputs[:count], u[:count, own:], states]), times[: count + 1]

    def _machines(self, steps: int) -> Iterator[tuple[job.Machine, job.Work, int]]:
        """Yield what may take the next steps, and how many: one after the other is tried.

        What takes a step does not depend on how a run is divided into blocks.
        """
        if not steps:
            return
        if self.thorough:
            yield *self._thorough, min(self.thorough, steps)
            self.thorough = 0
        if not self.tried:
            yield self.machine, self.work, steps
        self.tried = False
        redundant = self.system.mechanism.redundant
        if redundant and self._choose():
            yield self.machine, self.work, steps
        if self._decouples and not self.machine.exact:
            self.thorough = THOROUGH
            yield *self._thorough, min(THOROUGH, steps)
            self.thorough = 0
        for slack in (LARGER_GAP, np.inf) if redundant else ():
            # Gaps of a worse choice are still there, or no choice is good in this position.
            self.machine.repeated.slack[0] = slack
            yield *(self._thorough if self._decouples else (self.machine, self.work)), FEW

    @property
    def beside(self) -> Vector:
        """The states of networks."""
        return self.networks.x

    def put_beside(self, states: Vector) -> None:
        """Go on with other states of networks."""
        self.networks.remember(states)

    def control(self, controls: Controls) -> bool:
        """Let controllers set inputs."""
        own = self.system.m
        shift = self.networks.first_column - own if len(self.networks) else 0
        table = controls.table
        table.columns[:] = controls.columns + np.where(controls.columns < own, 0, shift)
        self.sampling, self._control_in_python = table, controls.calls_python
        self._count_turns_from_here()
        table.factors[:, MULTIPLIER] = self.places_of(controls.multipliers)
        return True

    def places_of(self, multipliers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return which of the multipliers of joints these places in x are."""
        known = {column: k for k, column in enumerate(self.places[:, 2].tolist())}
        return np.array([known[k] for k in multipliers.tolist()], dtype=np.intp)

    @property
    def form(self) -> str:
        """The form of the equations, which has a kernel of its own."""
        return "stabilised" if self.system.stabilised else "plain"

    def recover(self, saved: Saved) -> tuple[Array, Array]:
        """Return x and stage_x with all multipliers."""
        return recover(saved, self._multipliers)

    @property
    def calls_python(self) -> bool:
        """Whether some laws are Python functions."""
        return self._control_in_python or any(isinstance(law, Law) for law in self.parts.laws)

    def _room(self, rows: int) -> job.Saved:
        """Return room for so many saved steps."""
        return job.Saved(
            x=np.zeros((rows, self.system.n)),
            stage=np.zeros((rows, self.system.n)),
            sums=np.zeros((rows, job.SUPPLIED + len(self.ports))),
            turns=np.zeros((rows, self.carried.turns.shape[1])),
            step=np.zeros(rows, dtype=np.uint32),
        )

    def _saved(self, saved: job.Saved, rows: slice, times: Array, u: Array, y: Array) -> Saved:
        """Return saved steps as the recorder knows them."""
        step, sums, x = saved.step[rows], saved.sums[rows], saved.x[rows]
        pieces = [*self.system.port_slices.values()]
        if len(self.networks):
            pieces.append(slice(self.networks.first_column, None))
        return Saved(
            time=times[step + 1],
            x=x,
            energy=sums[:, job.ENERGY],
            dissipated=sums[:, job.LOST],
            balance_error=sums[:, job.BALANCE],
            port_energy=sums[:, job.SUPPLIED :],
            turned=self.base + saved.turns[rows],
            stage_time=(times[step] + times[step + 1]) / 2,
            stage_x=saved.stage[rows],
            u=[u[step, piece] for piece in pieces],
            y=[y[step, piece] for piece in pieces],
            iterations=sums[:, job.LAST_ITERATIONS].astype(np.intp),
        )

    def rest(self) -> Array:
        """Return room for the motion of bodies and the ground, which stays at the origin."""
        state = np.zeros((self.bodies + 1, self.columns))
        state[:, tables.DIRECTORS : tables.VELOCITY] = np.eye(3).reshape(-1)
        return state


def recover(
    saved: Saved, multipliers: Callable[[float, Vector, Vector, Vector, Vector], Vector]
) -> tuple[Array, Array]:
    """Return x and stage_x of saved steps with the multipliers that are found of each step."""
    x, stage = np.array(saved.x), np.array(saved.stage_x)
    u = np.hstack([np.zeros((len(x), 0)), *saved.u])
    for k, (end, middle) in enumerate(zip(x, stage, strict=True)):
        h, turned = 2 * float(saved.time[k] - saved.stage_time[k]), saved.turned[k]
        found = multipliers(h, end, middle, u[k], turned)
        end[end.size - found.size :] = middle[end.size - found.size :] = found
    return x, stage


class DirectorRunner(MechanismRunner):
    """A mechanism in directors, plain or stabilised."""

    system: DirectorForm

    def _fill(self, x: Vector) -> Array:
        own = self.system.mechanism.unknowns
        q, v = own.full(x[: own.n]), own.rates.full(x[own.n : 2 * own.n])
        q, v = (a.reshape(-1, own.width) for a in (q, v))
        D, rates = q[:, 3:].reshape(-1, 3, 3), v[:, 3:].reshape(-1, 3, 3)
        w = np.cross(D, rates).sum(axis=1) / 2
        self.state[:-1] = np.hstack([q, v, w, np.zeros_like(w)])
        if not self.system.stabilised:
            self.state[:-1, tables.RATES : tables.SPUN] -= self._turning(w)
        return np.hstack([v[:, :3], w])

    def _motion(self) -> Vector:
        own, state = self.system.mechanism.unknowns.own, self.state[:-1]
        q, v = state[:, : tables.VELOCITY], state[:, tables.VELOCITY : tables.SPUN].copy()
        if not self.system.stabilised:
            v[:, 3:] += self._turning(state[:, tables.SPUN : tables.ROUNDED])
        return np.concatenate([own(part.reshape(-1)) for part in (q, v)])

    def _turning(self, w: Array) -> Array:
        """Return the rates w x d of all bodies (bodies, 9)."""
        D = self.state[:-1, tables.DIRECTORS : tables.VELOCITY].reshape(-1, 3, 3)
        return np.cross(w[:, None], D).reshape(-1, 9)

    @property
    def recovered(self) -> frozenset[str]:
        """The multipliers of rigidity, and those of joints where some repeat others."""
        layout = self.system.layout
        turning = layout.among(self.system.mechanism.unknowns.turns)
        plain = {f"{name}.rigidity" for name in turning} | layout.undetermined
        return frozenset(plain | {f"{name} (velocity)" for name in plain})

    def _multipliers(
        self, h: float, end: Vector, middle: Vector, u: Vector, turned: Vector
    ) -> Vector:
        """Return multipliers of rigidity that balance what is left, and the smallest of joints."""
        n, m = self.system.mechanism.n, self.system.mechanism.m
        multipliers = self.system.parts(middle)[2]
        (q1, v1), (q, v) = ((x[:n], x[n : 2 * n]) for x in (end, middle))
        mechanism = self._over(self.system.near(turned).mechanism.since(2 * q - q1), h, end, middle)
        lam, gam = multipliers[:m], multipliers[m:]
        rate = 2 * (q1 - q) / h
        dV, _ = mechanism.discrete_dV(2 * q - q1, q1)
        push = 2 * mechanism.mass * (v1 - v) / h
        push += dV - mechanism.B(q) @ u + mechanism.damping(q, rate)
        losses = mechanism.losses(q, rate, lam)
        if losses is not None:
            push += losses.force
        if not self.system.stabilised:
            return mechanism.smallest(q, _with_rigidity(mechanism, q, lam, push, 1.0))
        gam = _with_rigidity(mechanism, q, gam, mechanism.mass * (rate - v), -1.0)
        push += mechanism.slope(q, v).T @ gam
        lam = _with_rigidity(mechanism, q, lam, push, 1.0)
        return np.concatenate(mechanism.smallest_pair(q, v, lam, gam))

    def _over(self, mechanism: Mechanism, h: float, end: Vector, middle: Vector) -> Mechanism:
        """Return the mechanism as it is over a step of length h [s] to its end."""
        return mechanism


class RelaxingRunner(DirectorRunner):
    """A mechanism with Maxwell elements."""

    system: RelaxingSystem

    @property
    def _elements(self) -> Relaxations:
        return next(each for each in self.parts.families if isinstance(each, Relaxations))

    @property
    def _strains(self) -> slice:
        """Where the strains are in x."""
        first = 2 * self.system.mechanism.n
        return slice(first, first + self.system.mechanism.strains)

    def start(self, x: Vector, turned: Vector) -> None:
        """Go on from a state."""
        super().start(x, turned)
        self._elements.remember(x[self._strains])

    def _motion(self) -> Vector:
        return np.append(super()._motion(), self._elements.strains)

    def _over(self, mechanism: Mechanism, h: float, end: Vector, middle: Vector) -> Mechanism:
        n, own = mechanism.n, self._strains
        q0, e0 = 2 * middle[:n] - end[:n], 2 * middle[own] - end[own]
        return with_springs(mechanism, e0, mechanism.unknowns.full(q0), h)


def _with_rigidity(
    mechanism: Mechanism, q: Vector, lam: Vector, push: Vector, sign: float
) -> Vector:
    """Return multipliers whose rigidity completes push + sign G^T lam = 0."""
    found, rigid = lam.copy(), mechanism.rigid
    found[:rigid] = 0.0
    pull = np.asarray(mechanism.G(q).T @ found)
    found[:rigid] = mechanism.rigidity(q, sign * push + pull)
    return found
