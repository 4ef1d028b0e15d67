"""Independent numerical tools: nothing in here uses the package."""

import itertools

import numpy as np

EPS = np.finfo(float).eps


def jacobian(f, x, step=1e-3):
    """Derivative of f by central differences, extrapolated twice (Romberg): order 6."""
    x = np.asarray(x, dtype=float)
    columns = []
    for j in range(x.size):
        table = []
        for k in range(3):
            shift = np.zeros(x.size)
            shift[j] = step / 2**k
            table.append((np.asarray(f(x + shift)) - np.asarray(f(x - shift))) / (2 * shift[j]))
        first = [(4 * b - a) / 3 for a, b in itertools.pairwise(table)]
        columns.append((16 * first[1] - first[0]) / 15)
    return np.stack(columns, axis=-1)


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
