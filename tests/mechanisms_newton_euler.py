"""An independent solution: Newton's and Euler's equations with joints at acceleration level.

A body is (r, R, v, omega) in world axes. A joint equation is a·b - c with a and b vectors of the
bodies; differentiating it twice gives linear equations for accelerations and multipliers (index
1). Start consistently, integrate tightly, and drift stays far below the errors to be measured.
Nothing in here uses the package.
"""

import numpy as np
from scipy.integrate import solve_ivp


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


class Vector:
    """A vector fixed in bodies: sum of s * (points or directions), with its first derivatives.

    `parts` holds (sign, body, arm in body axes, moves with the body's centre); the ground is None.
    """

    def __init__(self, *parts):
        self.parts = parts

    def __sub__(self, other):
        return Vector(*self.parts, *((-s, b, arm, p) for s, b, arm, p in other.parts))

    def evaluate(self, state):
        """Value, velocity, the acceleration without (v', omega'), and the matrix of those."""
        value, rate, bias = np.zeros((3, 3))
        matrix = np.zeros((3, 6 * len(state)))
        for sign, body, arm, is_point in self.parts:
            if body is None:
                value = value + sign * arm
                continue
            r, R, v, w = state[body]
            x = R @ arm
            turning = np.cross(w, x)
            value = value + sign * (x + (r if is_point else 0))
            rate = rate + sign * (turning + (v if is_point else 0))
            bias = bias + sign * np.cross(w, turning)
            matrix[:, 6 * body + 3 : 6 * body + 6] -= sign * skew(x)
            if is_point:
                matrix[:, 6 * body : 6 * body + 3] += sign * np.eye(3)
        return value, rate, bias, matrix


class Reference:
    """The bodies of a plan (see `mechanisms.Plan`) and its first joint, with loads."""

    def __init__(self, plan, model):
        self.names = list(plan.bodies)
        bodies = [model.bodies[name] for name in self.names]
        self.mass = [body.mass for body in bodies]
        self.inertia = [
            body.R_WB.T @ body.R_WP @ np.diag(body.principal.inertia) @ body.R_WP.T @ body.R_WB
            for body in bodies
        ]
        velocities = model.start_velocities()
        self.start = [(body.position, body.R_WB, *velocities[body.name]) for body in bodies]
        self.gravity = plan.gravity
        self.ports = [
            (self.index(at["body"]), kind, at) for kind, at in plan.ports.values() if "body" in at
        ]
        self.springs = [
            (
                self.point(at["b"], at["point_b"]) - self.point(at["a"], at["point_a"]),
                at["stiffness"],
                at.get("damping", 0.0),
                np.linalg.norm(at["point_b"] - at["point_a"]),
            )
            for _, at in plan.forces.values()
        ]
        (self.joint,) = plan.joints.values()
        self.rows = self.equations(*self.joint)

    def index(self, name):
        return None if name == "ground" else self.names.index(name)

    def point(self, name, world):
        body = self.index(name)
        if body is None:
            return Vector((1, None, world, True))
        r, R, _, _ = self.start[body]
        return Vector((1, body, R.T @ (world - r), True))

    def arrow(self, name, world):
        body = self.index(name)
        world = world / np.linalg.norm(world)
        arm = world if body is None else self.start[body][1].T @ world
        return Vector((1, body, arm, False))

    def equations(self, kind, at):
        """Pairs (a, b) with a·b constant: another choice of axes than any joint table's."""
        A, B = at["a"], at["b"]
        e = [Vector((1, None, unit, False)) for unit in np.eye(3)]

        def across(n):
            helper = np.array([0.36, 0.48, 0.8])
            m = np.cross(n, helper)
            return m, np.cross(n, m)

        def point(p):
            return [(axis, self.point(B, p) - self.point(A, p)) for axis in e]

        def offset(m, p):
            return (self.arrow(A, m), self.point(B, p) - self.point(A, p))

        def dot(a, b):
            return (self.arrow(A, a), self.arrow(B, b))

        p, n = at.get("point"), at.get("axis", at.get("normal"))
        if n is not None:
            m1, m2 = across(n)
            parallel = [dot(m1, n), dot(m2, n)]
        if kind == "Spherical":
            return point(p)
        if kind == "Universal":
            return [*point(p), dot(at["axis_a"], at["axis_b"])]
        if kind == "Revolute":
            return [*point(p), *parallel]
        if kind == "Cylindrical":
            return [offset(m1, p), offset(m2, p), *parallel]
        if kind == "Prismatic":
            return [offset(m1, p), offset(m2, p), *parallel, dot(m1, m2)]
        if kind == "Planar":
            return [offset(n, p), *parallel]
        if kind == "PointOnLine":
            return [offset(m1, p), offset(m2, p)]
        if kind == "PointOnPlane":
            return [offset(n, p)]
        if kind == "Rod":
            span = self.point(B, at["point_b"]) - self.point(A, at["point_a"])
            return [(span, span)]
        x, y, z = np.eye(3)
        turns = [dot(x, y), dot(y, z), dot(z, x)]
        if kind == "Cartesian":
            return turns
        return [*point(np.array([0.3, 0.1, -0.2])), *turns]

    def unpack(self, y):
        state = []
        for block in y.reshape(-1, 18):
            state.append((block[:3], block[3:12].reshape(3, 3), block[12:15], block[15:]))
        return state

    def forces(self, t, state):
        """Generalised forces (6 a body), and the gyroscopic terms."""
        f = np.zeros(6 * len(state))
        for i, (_, R, _, w) in enumerate(state):
            inertia = R @ self.inertia[i] @ R.T
            f[6 * i : 6 * i + 3] += self.mass[i] * self.gravity
            f[6 * i + 3 : 6 * i + 6] -= np.cross(w, inertia @ w)
        for body, kind, at in self.ports:
            r0, R0, _, _ = self.start[body]
            R = state[body][1]
            u = at["value"](t)
            load = u if at["axes"] == "world" else R @ u
            if kind == "TorquePort":
                f[6 * body + 3 : 6 * body + 6] += load
            else:
                f[6 * body : 6 * body + 3] += load
                arm = R @ (R0.T @ (at["point"] - r0))
                f[6 * body + 3 : 6 * body + 6] += np.cross(arm, load)
        for span, stiffness, damping, rest in self.springs:
            r, rate, _, matrix = span.evaluate(state)
            length = np.linalg.norm(r)
            tension = stiffness * (length - rest) + damping * (r @ rate) / length
            f -= matrix.T @ (r / length) * tension
        return f

    def accelerations(self, t, state):
        size = 6 * len(state)
        M = np.zeros((size, size))
        for i, (_, R, _, _) in enumerate(state):
            M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = self.mass[i] * np.eye(3)
            M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = R @ self.inertia[i] @ R.T
        rows, rights = [], []
        for a, b in self.rows:
            a0, a1, a2, Ma = a.evaluate(state)
            b0, b1, b2, Mb = b.evaluate(state)
            rows.append(a0 @ Mb + b0 @ Ma)
            rights.append(-(a0 @ b2 + b0 @ a2 + 2 * a1 @ b1))
        G = np.array(rows)
        K = np.block([[M, G.T], [G, np.zeros((len(rows), len(rows)))]])
        solution = np.linalg.solve(K, np.concatenate([self.forces(t, state), rights]))
        pull = -G.T @ solution[size:]
        return solution[:size].reshape(-1, 6), pull.reshape(-1, 6)

    def derivative(self, t, y):
        state = self.unpack(y)
        accelerations, _ = self.accelerations(t, state)
        return np.concatenate(
            [
                part
                for (_, R, v, w), a in zip(state, accelerations, strict=True)
                for part in (v, (skew(w) @ R).reshape(-1), a)
            ]
        )

    def solve(self, times):
        """States at the given times: positions, rotations, velocities, angular velocities."""
        y0 = np.concatenate([np.concatenate([r, R.reshape(-1), v, w]) for r, R, v, w in self.start])
        run = solve_ivp(
            self.derivative,
            (0.0, times[-1]),
            y0,
            method="DOP853",
            t_eval=times,
            rtol=1e-11,
            atol=1e-12,
        )
        return run.y.T.reshape(len(times), -1, 18)

    def reaction(self, t, blocks):
        """Force on the last body, of the joint."""
        _, pull = self.accelerations(t, self.unpack(blocks.reshape(-1)))
        return pull[-1, :3]
