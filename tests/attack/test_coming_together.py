"""Random closed mechanisms come together from rough starts, by the least way of their matter.

A few in every run; `pytest tests/attack/test_coming_together.py --attack 500` tries so many.
"""

import numpy as np
import pytest
from assembly_models import random_linkage
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

import poinsot as ps

#: Gaps of half a body, angles off by 60 degrees.
OFF = {"gap": 0.5, "angle": np.pi / 3}


def cases(request, few):
    count, seed = request.config.getoption("--attack"), request.config.getoption("--attack-seed")
    return [np.random.default_rng((seed, k)) for k in range(count or few)]


def test_random_closed_mechanisms_come_together(request):
    randoms, failed = cases(request, 16), []
    for k, random in enumerate(randoms):
        rough = random_linkage(random).perturbed(random, **OFF)
        model = rough.model()
        try:
            found = model.assemble()
        except ps.AssemblyError as error:
            failed.append(f"{k}: {error}")
            continue
        distance, angle = rough.gaps(model.start_places())
        assert distance < 1e-8, (k, distance)
        assert angle < 1e-8, (k, angle)
        assert max(found.gap, found.gap_angle) < 1e-8
        model.compile()
    print(f"{len(randoms) - len(failed)} of {len(randoms)} come together")
    assert len(failed) <= len(randoms) // 20, failed


def test_they_do_from_anywhere(request):
    for random in cases(request, 4):
        rough = random_linkage(random).perturbed(random, gap=2.0, angle=3.1)
        model = rough.model()
        model.assemble()
        assert max(rough.gaps(model.start_places())) < 1e-8


#: What is zero where a joint is closed, r and Q of B's frame as seen from A's.
EQUATIONS = {
    "Spherical": lambda r, Q: r,
    "Universal": lambda r, Q: [*r, Q[0, 1]],
    "Revolute": lambda r, Q: [*r, Q[0, 2], Q[1, 2]],
    "Cylindrical": lambda r, Q: [r[0], r[1], Q[0, 2], Q[1, 2]],
    "Prismatic": lambda r, Q: [r[0], r[1], Q[2, 1], Q[0, 2], Q[1, 0]],
    "Planar": lambda r, Q: [r[2], Q[0, 2], Q[1, 2]],
}


def regular(linkage):
    """Whether no equation repeats another one: only then does the optimiser work."""
    rows = {"Spherical": 3, "Universal": 4, "Cylindrical": 4, "Planar": 3}
    kinds = [kind for kind, *_ in linkage.joints.values()]
    return {"Revolute", "Prismatic"}.isdisjoint(kinds) and (
        sum(rows[kind] for kind in kinds) < 6 * len(linkage.bodies)
    )


def test_no_optimiser_finds_a_shorter_way(request):
    for random in cases(request, 3):
        rough = random_linkage(random)
        while len(rough.bodies) > 4 or not regular(rough):
            rough = random_linkage(random)
        rough = rough.perturbed(random, **OFF)
        model = rough.model()
        found, closed = model.assemble(), model.start_places()

        def places(z, closed=closed):
            turned = Rotation.from_rotvec(z.reshape(-1, 6)[:, 3:]).as_matrix()
            each = zip(z.reshape(-1, 6)[:, :3], turned, closed.items(), strict=True)
            return {name: (x + step, Q @ R) for step, Q, (name, (x, R)) in each}

        def way(z, rough=rough):
            there, total = places(z), 0.0
            for name, (shape, x, R) in rough.bodies.items():
                euler = np.trace(shape.inertia_B) / 2 * np.eye(3) - shape.inertia_B
                (y, Q), m = there[name], shape.mass
                total += m * np.sum((y - x) ** 2) + np.trace((Q - R) @ euler @ (Q - R).T)
            return total

        def open_by(z, rough=rough):
            there, rows = places(z), []
            for kind, a, b, on_a, on_b, _ in rough.joints.values():
                (x, A), (y, B) = (rough.frame(n, f, there) for n, f in ((a, on_a), (b, on_b)))
                rows += list(EQUATIONS[kind](A.T @ (y - x), A.T @ B))
            return np.array(rows)

        here = np.zeros(6 * len(rough.bodies))
        mass = sum(shape.mass for shape, _, _ in rough.bodies.values())
        assert way(here) == pytest.approx(mass * found.change**2, rel=1e-9)
        beside = 0.02 * random.standard_normal(here.size)
        rows = {"type": "eq", "fun": open_by}
        other = minimize(way, beside, constraints=rows, method="SLSQP", options={"ftol": 1e-12})
        assert abs(open_by(other.x)).max() < 1e-6
        assert way(here) <= other.fun * (1 + 1e-6)


@pytest.mark.parametrize("length", [1e-8, 1e8])
@pytest.mark.parametrize("mass", [1e-9, 1e9])
def test_lengths_and_masses_have_no_units_of_their_own(length, mass):
    rough = random_linkage(np.random.default_rng(3)).perturbed(np.random.default_rng(4), **OFF)
    other = rough.scaled(length, mass)
    one, two = (each.model() for each in (rough.scaled(1.0), other))
    a, b = one.assemble(), two.assemble()
    assert b.change / length == pytest.approx(a.change, rel=1e-9)
    for name, (x, R) in one.start_places().items():
        y, Q = two.start_places()[name]
        assert np.allclose(y / length, x, atol=1e-9)
        assert np.allclose(Q, R, atol=1e-9)
    distance, angle = other.gaps(two.start_places())
    assert max(distance / length, angle) < 1e-10
    two.check()
