"""Random port-Hamiltonian systems for the laws."""

import numpy as np
from hypothesis import strategies as st

from poinsot import ph

seeds = st.integers(0, 2**32 - 1)

#: Where the rank of E is lost: nowhere; zero rows and columns of the same states; zero rows and
#: columns of different states; in directions that are no states at all.
SINGULARITIES = ("regular", "aligned", "permuted", "rotated")


def random_matrices(seed, n, m, singularity="regular"):
    """Random E, J, R, B, Q with E^T Q symmetric and semi-definite, and a solvable step."""
    random = np.random.default_rng(seed)
    lost = 0 if singularity == "regular" else max(1, n // 3)
    kept = n - lost

    def normal(*shape):
        return random.standard_normal(shape)

    def spd(size):
        A = normal(size, size)
        return A @ A.T / size + 0.2 * np.eye(size)

    D = np.diag([*random.uniform(0.5, 2, kept), *np.zeros(lost)])
    T = np.zeros((n, n))
    T[:kept, :kept] = np.diag(1 / np.diag(D)[:kept]) @ spd(kept)
    T[kept:, :kept] = normal(lost, kept)
    T[kept:, kept:] = np.eye(lost) + 0.2 * normal(lost, lost)
    if singularity == "rotated":
        U, V = (np.linalg.qr(normal(n, n))[0] for _ in range(2))
    elif singularity == "permuted":
        U, V = (np.eye(n)[random.permutation(n)] for _ in range(2))
    elif singularity == "aligned":
        U = V = np.eye(n)[random.permutation(n)]
    else:
        U, V = np.eye(n), np.eye(n)
    G = normal(n, random.integers(lost, n + 1)) / np.sqrt(n)
    if lost:  # the algebraic equations must determine the algebraic states
        G = np.hstack([G, U[:, kept:]])
    K = normal(n, n)
    return {
        "E": U @ D @ V.T,
        "J": K - K.T,
        "R": G @ G.T,
        "B": normal(n, m),
        "Q": U @ T @ V.T,
    }


def as_system(matrices, name="random"):
    n, m = matrices["B"].shape
    symmetric = (matrices["R"] + matrices["R"].T) / 2
    return ph.linear(
        name,
        states=[f"x{i}" for i in range(n)],
        **{**matrices, "R": symmetric},
        ports=[ph.Port(f"port{i}") for i in range(m)],
    )


@st.composite
def linear_systems(draw, singularities=SINGULARITIES, max_states=6):
    """A random linear system and a consistent start for it."""
    singularity = draw(st.sampled_from(singularities))
    n = draw(st.integers(1 if singularity == "regular" else 2, max_states))
    m = draw(st.integers(0, 2))
    seed = draw(seeds)
    system = as_system(random_matrices(seed, n, m, singularity))
    x0 = np.random.default_rng(seed + 1).standard_normal(n)
    return fed(system), x0


def wave(k):
    return lambda t: np.cos((k + 1) * t) + 0.3 * k


def fed(system):
    """Feed every port by its own smooth signal."""
    for k, port in enumerate(system.ports):
        system = ph.feed(system, port.name, wave(k))
    return system
