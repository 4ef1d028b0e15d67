"""Independent numerical tools: nothing in here uses the package."""

import itertools

import numpy as np

EPS = np.finfo(float).eps


def jacobian(f, x, step=1e-3, along=None, order=6):
    """Derivative of f by central differences, extrapolated (Romberg) to order 4 or 6.

    It is taken along each coordinate, or along the columns of a matrix.
    """
    x = np.asarray(x, dtype=float)
    columns = []
    for direction in np.eye(x.size) if along is None else along.T:
        table = []
        for k in range(order // 2):
            h = step / 2**k
            ahead, behind = (np.asarray(f(x + s * direction)) for s in (h, -h))
            table.append((ahead - behind) / (2 * h))
        first = [(4 * b - a) / 3 for a, b in itertools.pairwise(table)]
        columns.append(first[0] if order == 4 else (16 * first[1] - first[0]) / 15)
    return np.stack(columns, axis=-1)


def directions(size, few=30, count=16):
    """All coordinates of a few, else directions of random signs: every entry counts in full."""
    if size <= few:
        return np.eye(size)
    return np.random.default_rng(0).choice([-1.0, 1.0], (size, count))


def solve(F, x, iterations=30):
    """Dense Newton with a numerical tangent, until the residual stops falling."""
    x = np.array(x, dtype=float)
    best, best_size = x, np.inf
    for _ in range(iterations):
        value = F(x)
        size = np.linalg.norm(value)
        if size < best_size:
            best, best_size = x, size
        if size == 0:
            break
        x = x - np.linalg.solve(jacobian(F, x, step=1e-4), value)
    return best


def gonzalez(H, grad, x0, x1):
    """The discrete gradient of [KB24, eq. (71)], letter by letter."""
    mid, dx = (x0 + x1) / 2, x1 - x0
    g = grad(mid)
    if not dx.any():
        return g
    return g + (H(x1) - H(x0) - g @ dx) / (dx @ dx) * dx


def observed_orders(steps, errors):
    """Slope of log(error) against log(step) between neighbours."""
    steps, errors = np.asarray(steps), np.asarray(errors)
    return np.diff(np.log(errors)) / np.diff(np.log(steps))


def subspace_gap(A, B):
    """Sine of the largest angle between the column spaces of A and B (1 if dimensions differ)."""
    Qa, Qb = (np.linalg.svd(M, full_matrices=False) for M in (A, B))
    ra, rb = (int(np.sum(s > 1e-10 * max(s[0], 1.0))) for _, s, _ in (Qa, Qb))
    if ra != rb:
        return 1.0
    Ua, Ub = Qa[0][:, :ra], Qb[0][:, :rb]
    return float(np.linalg.norm(Ua - Ub @ (Ub.T @ Ua), 2)) if ra else 0.0
