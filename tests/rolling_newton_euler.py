"""An independent solution: one body on a plane by Newton's and Euler's equations.

The contact acts with a force f at an arm rho from the centre of mass. What it forbids, p·(v +
omega x rho) = 0 for some directions p, is differentiated once, which gives linear equations for
accelerations and force. Nothing in here uses the package.
"""

import numpy as np
from scipy.integrate import solve_ivp

DT = 1e-6


def skew(a):
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def disc_arm(axis, radius, normal):
    """The rim's point that is nearest to the plane, seen from the centre."""

    def arm(R):
        a = R @ axis
        down = (normal @ a) * a - normal
        return radius * down / np.linalg.norm(down)

    return arm


def everywhere(R):
    """All three velocities of the contact are forbidden."""
    return np.eye(3)


class OnPlane:
    """Mass, inertia (body axes), gravity, arm(R) [m], and directions(R) that are forbidden."""

    def __init__(self, mass, inertia, gravity, arm, directions=everywhere):
        self.mass, self.inertia, self.gravity = mass, np.array(inertia), np.array(gravity)
        self.arm, self.directions = arm, directions

    def solve(self, R, v, w):
        """Return accelerations and the contact force."""
        J = R @ self.inertia @ R.T
        turn = skew(w) @ R
        rho, P = self.arm(R), self.directions(R)
        # Central differences along the motion: exact to 1e-10, and independent of any formula.
        (rho1, P1), (rho0, P0) = (
            (self.arm(R + s * DT * turn), self.directions(R + s * DT * turn)) for s in (1, -1)
        )
        drho, dP = (rho1 - rho0) / (2 * DT), (P1 - P0) / (2 * DT)
        n = len(P)
        A = np.zeros((6 + n, 6 + n))
        b = np.zeros(6 + n)
        A[:3, :3], A[:3, 6:] = self.mass * np.eye(3), -P.T
        A[3:6, 3:6], A[3:6, 6:] = J, -skew(rho) @ P.T
        A[6:, :3], A[6:, 3:6] = P, -P @ skew(rho)
        b[:3] = self.mass * self.gravity
        b[3:6] = -np.cross(w, J @ w)
        b[6:] = -dP @ (v + np.cross(w, rho)) - P @ np.cross(w, drho)
        x = np.linalg.solve(A, b)
        return x[:3], x[3:6], P.T @ x[6:]

    def run(self, r, R, v, w, times):
        """Return position, rotation, velocity, angular velocity and force at the times."""

        def rate(_, y):
            R = y[3:12].reshape(3, 3)
            a, alpha, _ = self.solve(R, y[12:15], y[15:])
            return np.concatenate([y[12:15], (skew(y[15:]) @ R).reshape(-1), a, alpha])

        start = np.concatenate([r, np.asarray(R).reshape(-1), v, w])
        options = {"method": "DOP853", "rtol": 1e-12, "atol": 1e-13, "t_eval": times}
        y = solve_ivp(rate, (0, times[-1]), start, **options).y.T
        rotations = y[:, 3:12].reshape(-1, 3, 3)
        force = [
            self.solve(R, row[12:15], row[15:])[2] for R, row in zip(rotations, y, strict=True)
        ]
        return y[:, :3], rotations, y[:, 12:15], y[:, 15:], np.array(force)
