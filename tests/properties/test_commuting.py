"""Interconnecting, then discretising = discretising, then interconnecting [LKB26, sec. 5.2].

The second way is written out here: each part's own discrete equations (49) with its input and
output at the midpoint, and the coupling law between these inputs and outputs.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numerics import gonzalez, solve

import poinsot as ps
from poinsot import ph


@dataclass
class Part:
    """x' = (J - R) grad H + B u, y = B^T grad H."""

    J: Any
    R: Any
    B: Any
    H: Any
    grad: Any
    hessian: Any

    def system(self, name):
        n, m = self.B.shape
        return ph.from_functions(
            name,
            states=[ph.State(f"{name}.x", n)],
            H=self.H,
            z=self.grad,
            dz=self.hessian,
            J=self.J,
            R=self.R,
            B=self.B,
            ports=[ph.Port(f"{name}.port", m)],
        )

    def discrete(self, x0, x1, u, h):
        """Return the residual of the part's own step and its output."""
        z = gonzalez(self.H, self.grad, x0, x1)
        return x1 - x0 - h * ((self.J - self.R) @ z + self.B @ u), self.B.T @ z


def quadratic(seed, n=3):
    random = np.random.default_rng(seed)
    K, A, G = random.standard_normal((3, n, n))
    Q = A @ A.T / n + np.eye(n)
    return Part(
        J=K - K.T,
        R=0.1 * G @ G.T,
        B=random.standard_normal((n, 2)),
        H=lambda x: x @ Q @ x / 2,
        grad=lambda x: Q @ x,
        hessian=lambda x: Q,
    )


def anharmonic(seed, n=3):
    part = quadratic(seed, n)
    H, grad, hessian = part.H, part.grad, part.hessian
    part.H = lambda x: H(x) + np.sum(x**4) / 4 - np.cos(x[0] * x[1])
    twist = np.eye(n)[[1, 0]]

    def full(x):
        extra = np.sin(x[0] * x[1]) * np.array([x[1], x[0], *np.zeros(n - 2)])
        return grad(x) + x**3 + extra

    def full_hessian(x):
        s, c, xy = np.sin(x[0] * x[1]), np.cos(x[0] * x[1]), np.array([x[1], x[0]])
        extra = np.zeros((n, n))
        extra[:2, :2] = c * np.outer(xy, xy) + s * twist[:, :2]
        return hessian(x) + np.diag(3 * x**2) + extra

    part.grad, part.hessian = full, full_hessian
    return part


def constant(xa, xb):
    return np.array([[0.8, -0.3], [0.4, 1.1]])


def modulated(xa, xb):
    angle = xa[0] - xb[1]
    return (1 + xa[1] ** 2 / 4) * np.array(
        [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
    )


def discretise_first(a, b, kind, C, x0, h, steps):
    """Return states and multipliers (u_b of the transformer) of every step."""
    na = a.B.shape[0]
    xs, lams = [x0], []
    for _ in range(steps):
        xa0, xb0 = xs[-1][:na], xs[-1][na:]

        def residual(unknown, xa0=xa0, xb0=xb0):
            xa1, xb1 = unknown[:na], unknown[na : na + xb0.size]
            C_mid = C((xa0 + xa1) / 2, (xb0 + xb1) / 2)
            if kind == "transformer":
                u_b = unknown[na + xb0.size :]
                F_a, y_a = a.discrete(xa0, xa1, -C_mid @ u_b, h)
                F_b, y_b = b.discrete(xb0, xb1, u_b, h)
                return np.concatenate([F_a, F_b, h * (y_b - C_mid.T @ y_a)])
            y_a, y_b = (
                a.discrete(xa0, xa1, np.zeros(2), h)[1],
                b.discrete(xb0, xb1, 0 * xa0[:2], h)[1],
            )
            F_a, _ = a.discrete(xa0, xa1, -C_mid @ y_b, h)
            F_b, _ = b.discrete(xb0, xb1, C_mid.T @ y_a, h)
            return np.concatenate([F_a, F_b])

        # Off the start by a little: eq. (71) is 0/0 at the start itself.
        guess = xs[-1] + 1e-2
        if kind == "transformer":
            guess = np.concatenate([guess, np.zeros(2)])
        solution = solve(residual, guess)
        xs.append(solution[: x0.size])
        lams.append(solution[x0.size :])
    return np.array(xs), np.array(lams)


@pytest.mark.parametrize(
    ("kind", "make", "C"),
    [  # every two of them meet
        ("transformer", quadratic, constant),
        ("transformer", anharmonic, modulated),
        ("gyrator", quadratic, modulated),
        ("gyrator", anharmonic, constant),
    ],
)
def test_interconnection_and_discretisation_commute(kind, make, C):
    a, b = make(1), make(2)
    h, steps = 0.1, 3
    connection = {"transformer": ph.Transformer, "gyrator": ph.Gyrator}[kind]
    coupling = C(None, None) if C is constant else C
    if C is modulated:
        with pytest.warns(ps.MissingDerivativeWarning, match="dC"):
            joined = ph.interconnect(
                a.system("a"), b.system("b"), connections=connection("a.port", "b.port", coupling)
            )
    else:
        joined = ph.interconnect(
            a.system("a"), b.system("b"), connections=connection("a.port", "b.port", coupling)
        )
    x0 = ph.consistent_state(joined, np.linspace(0.8, -0.6, joined.n))
    result = ps.simulate(joined, h=h, t_end=steps * h, x0=x0, scheme="ph-dg")
    ours = np.hstack([result["a.x"], result["b.x"]])
    theirs, lams = discretise_first(a, b, kind, C, ours[0], h, steps)
    assert np.abs(ours[-1] - ours[0]).max() > 0.1
    assert np.abs(ours - theirs).max() <= 1e-12 * np.abs(theirs).max()
    if kind == "transformer":
        ours_lam = result["lambda(a.port, b.port)"][1:]
        assert np.abs(ours_lam - lams).max() <= 1e-10 * np.abs(lams).max()
        assert np.allclose(result.port("b.port").u, ours_lam, rtol=0, atol=1e-12)
