"""Which spring vibrates fastest, and how fast: what the size of steps is to be compared with."""

from math import pi, sqrt

import numpy as np
import scipy.linalg

from poinsot.frames.places import frame_vectors, local
from poinsot.frames.twists import velocity_blocks
from poinsot.parts.potentials import Potential
from poinsot.ph.matrices import Array, Vector
from poinsot.systems.mechanism import Mechanism

#: A motion with less than this part of the largest mass has none, as a point mass that turns.
MASSLESS = 1e-14


def fastest(mechanism: Mechanism, f: Vector) -> tuple[str, float] | None:
    """Return the force that vibrates fastest at frames f, by itself, and its period [s].

    By the largest eigenvalue of its stiffness and the inertia of its own bodies, free of joints:
    these make a period longer. None if no force is elastic.
    """
    found = [(each.name, _rate(mechanism.inertia, each, f)) for each in mechanism.potentials]
    name, rate = max(found, key=lambda pair: pair[1], default=("", 0.0))
    return (name, 2 * pi / rate) if rate > 0 else None


def _rate(inertia: Array, potential: Potential, f: Vector) -> float:
    """Return the largest frequency of one potential [rad/s]."""
    q = local(f, potential.bodies)
    P = scipy.linalg.block_diag(*velocity_blocks(frame_vectors(q)))
    own = np.repeat(inertia[list(potential.bodies)].reshape(-1), 3)
    masses, axes = np.linalg.eigh(P.T @ (own[:, None] * P))
    kept = masses > MASSLESS * masses[-1]
    axes = axes[:, kept] / np.sqrt(masses[kept])
    K = P.T @ potential.hessian(q) @ P
    return sqrt(max(float(np.linalg.eigvalsh(axes.T @ ((K + K.T) / 2) @ axes)[-1]), 0.0))
