r"""Motion of a robot's bodies at given coordinates, and their accelerations by its system.

Places follow from the steps of the description alone, as a product of exponentials; what joints of
the model say of them is a check of its own. Accelerations solve

.. math:: E x' = (J - R) z - r + B u, \qquad \frac{d}{dt} \bigl(K(q)\, z\bigr) = 0 ,

with the multipliers unknown, too.
"""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla

from poinsot.so3 import exp, skew

#: Weights of a central difference of order eight, and its step over the greatest rate; rows of
#: rigidity and of joints are linear in places, where a difference of two is exact.
WEIGHTS, STEP = (4 / 5, -1 / 5, 4 / 105, -1 / 280), 2e-2
LINEAR = (1 / 2,)


def cross(a, b):
    """Return a x b; NumPy's takes ten times as long for two vectors."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u))


@dataclass(frozen=True, eq=False)
class Shift:
    """A motion of a body from where it was added: x = p + R X; velocities at the origin."""

    p: np.ndarray
    R: np.ndarray
    v: np.ndarray
    omega: np.ndarray

    @classmethod
    def none(cls):
        """Return rest."""
        return cls(np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3))

    @classmethod
    def to(cls, frame, zero):
        """Return what takes a frame (p, R, v, omega) there from its place (p, R) at zero."""
        p, R, v, omega = frame
        turn = R @ zero[1].T
        return cls(p - turn @ zero[0], turn, v - cross(omega, p), omega)

    def then(self, step, q, rate):
        """Return this after a step, whose point and axis are those at zero."""
        if step.kind == "ball":
            D = q
            spin = self.R @ D @ rate  # in the axes of the child, as MuJoCo has it
        elif step.kind == "hinge":
            D, spin = exp(q * step.axis), self.R @ step.axis * rate
        else:
            slide = self.R @ step.axis
            return Shift(self.p + q * slide, self.R, self.v + rate * slide, self.omega)
        at = self.p + self.R @ step.point
        shift = self.p + self.R @ (step.point - D @ step.point)
        return Shift(shift, self.R @ D, self.v + cross(at, spin), self.omega + spin)

    def body(self, body):
        """Return where a body of the model is and how it moves."""
        p = self.p + self.R @ body.position
        return p, self.R @ body.R_WB, self.v + cross(self.omega, p), self.omega


def shifts(robot, coordinates, frees):
    """Return the motion of every link, and of every frame between two steps, by name.

    `coordinates` are (q, rate) by the names of steps, `frees` frames (p, R, v, omega) of links.
    """
    found, rest = {None: Shift.none()}, list(robot.joints)
    while rest:
        joint = next(joint for joint in rest if joint.parent in found)
        rest.remove(joint)
        here = found[joint.parent]
        if joint.free:
            link = robot.links[joint.child]
            here = Shift.to(frees[joint.child], (link.position, link.rotation))
        for k, step in enumerate(joint.steps):
            found[joint.name, k] = here
            here = here.then(step, *coordinates[step.name])
        found[joint.child] = here
    return found


def motions(model, robot, coordinates, frees):
    """Return where all bodies of a model are and how they move, by name."""
    moved = shifts(robot, coordinates, frees)
    found = {}
    for name, body in model.bodies.items():
        key = name
        if name not in moved:  # a frame between two steps: before the first one of its joint
            after = next(n for n, j in model.joints.items() if j.bodies[0] is body).split("+")
            key = next(
                (joint.name, k)
                for joint in robot.joints
                for k, step in enumerate(joint.steps)
                if step.name in after
            )
        found[name] = moved[key].body(body)
    return found


class Accelerations:
    """The system of a model, whose accelerations are asked for at many states."""

    def __init__(self, model):
        self.model, self.system = model, model.compile()
        self.places, first = {}, 0
        for state in self.system.states:
            self.places[state.name] = slice(first, first + state.size)
            first += state.size
        moving = np.zeros(first, dtype=bool)
        for name, own in self.places.items():
            body, _, part = name.rpartition(".")
            moving[own] = (body in model.bodies and part in ("q", "v")) or part == "momentum"
        self.held, self.moving = np.flatnonzero(~moving), np.flatnonzero(moving)
        self.by_place = rate_places(self.places, model, first)[self.moving]

    def state(self, motion, rates):
        """Return the state of bodies, and of rotors that turn at the rates of their steps."""
        x = np.zeros(self.system.n)
        for name, (p, R, v, omega) in motion.items():
            d = (R @ self.model.bodies[name].principal.R_BP).T
            x[self.places[f"{name}.q"]] = np.concatenate([p, d.reshape(-1)])
            turned = (d @ skew(omega).T).reshape(-1)
            x[self.places[f"{name}.v"]] = np.concatenate([v, turned])
        for name, own in self.places.items():
            step, _, part = name.rpartition(".rotor.")
            if part == "momentum":
                x[own] = rates[step] / self.system_of(f"{step}.rotor").matrix_Q[0, 0]
        return x

    def system_of(self, name):
        """Return a system of the model."""
        return self.model.systems[name]

    def kinetic(self, x):
        """Return the kinetic energy [J], that of rotors among it."""
        energy = 0.0
        for name, body in self.model.bodies.items():
            v, of = x[self.places[f"{name}.v"]].reshape(4, 3), body.principal
            weights = np.array([of.mass, of.E1, of.E2, of.E3])
            energy += weights @ np.sum(v * v, axis=1) / 2
        for name, own in self.places.items():
            if name.endswith(".momentum"):
                energy += x[own][0] ** 2 * self.system_of(name[:-9]).matrix_Q[0, 0] / 2
        return energy

    def gap(self, x):
        """Return by how much velocities contradict the joints, relative to them."""
        rows = self._rows(x)
        return abs(rows @ self.system.z(x)).max(initial=0.0) / max(1.0, abs(x).max())

    def _rows(self, x):
        return sp.csr_array(self.system.J(x))[self.held]

    def of(self, x):
        """Return (acceleration, angular acceleration) of every body by name."""
        model, system, held, moving = self.model, self.system, self.held, self.moving
        z = system.z(x)
        flow = np.asarray(system.flow(x, z, np.zeros(sum(p.size for p in system.ports))))
        J, E = sp.csr_array(system.J(x)), sp.csr_array(system.E(x))
        rate = np.zeros(system.n)  # of positions alone: that of the rest is what is looked for
        for name, own in self.places.items():
            if name.endswith(".q") and name[:-2] in self.model.bodies:
                rate[own] = x[self.places[name[:-1] + "v"]]
        h = STEP / max(1.0, abs(rate).max())
        turned = np.zeros(held.size)
        for k, weight in enumerate(WEIGHTS if model.systems else LINEAR, start=1):
            ahead, back = (self._rows(x + s * k * h * rate) @ z for s in (1, -1))
            turned += weight / h * (ahead - back)
        by_rate = J[held] @ sp.csr_array(system.dz(x))[:, moving]
        by_rate = by_rate @ sp.diags_array(np.where(self.by_place, 0.0, 1.0))
        A = sp.block_array([[E[moving][:, moving], -J[moving][:, held]], [by_rate, None]])
        right = np.concatenate([flow[moving], -turned])
        found = np.zeros(system.n)
        found[moving] = _solved(A, right)[: moving.size]
        accelerations = {}
        for name in self.model.bodies:
            q, a = x[self.places[f"{name}.q"]], found[self.places[f"{name}.v"]]
            d = q[3:].reshape(3, 3)
            spin = sum(map(cross, d, a[3:].reshape(3, 3))) / 2
            accelerations[name] = a[:3], spin
        return accelerations


def rate_places(places, model, n):
    """Return which states are positions of bodies."""
    found = np.zeros(n, dtype=bool)
    for name, own in places.items():
        body, _, part = name.rpartition(".")
        found[own] = part == "q" and body in model.bodies
    return found


def _solved(A, right):
    """Solve with rows and columns of like size; repeated constraints are left to least squares."""
    A = sp.csc_array(A)
    rows, columns = np.ones(A.shape[0]), np.ones(A.shape[0])
    for _ in range(3):
        scaled = abs(sp.diags_array(rows) @ A @ sp.diags_array(columns))
        rows /= np.sqrt(np.maximum(scaled.max(axis=1).toarray().reshape(-1), 1e-300))
        columns /= np.sqrt(np.maximum(scaled.max(axis=0).toarray().reshape(-1), 1e-300))
    even = sp.csc_array(sp.diags_array(rows) @ A @ sp.diags_array(columns))
    try:
        lu, x = spla.splu(even), np.zeros(right.size)
        for _ in range(3):
            x += columns * lu.solve(rows * (right - A @ x))
        if np.all(np.isfinite(x)) and abs(A @ x - right).max() <= 1e-8 * (1 + abs(right).max()):
            return x
    except RuntimeError:
        pass
    found = np.linalg.lstsq(even.toarray(), rows * right, rcond=1e-13)[0]
    return np.asarray(columns * found)
