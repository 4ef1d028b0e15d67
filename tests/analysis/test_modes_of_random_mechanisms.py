"""Laws over random mechanisms at rest: trees and loops of bodies on springs."""

import linear_models as known
import numpy as np
from hypothesis import given, strategies
from mechanisms import laws, rotation, unit

import poinsot as ps

SEEDS = strategies.integers(0, 2**32 - 1)


def mechanism(seed, scale=1.0):
    """Three bodies in a row of random joints, on springs at rest, with or without a loop."""
    random = np.random.default_rng(seed)
    model, last = ps.Model(), None
    places = random.uniform(-1, 1, (3, 3)) * scale
    for k, place in enumerate(places):
        form = ps.Box(mass=random.uniform(0.5, 2), size=scale * random.uniform(0.2, 0.6, 3))
        body = model.add_body(f"b{k}", form, position=place, rotation=rotation(random))
        point, axis = place + scale * random.uniform(-0.5, 0.5, 3), unit(random)
        kinds = [
            ps.Spherical(last or model.ground, body, point=point),
            ps.Revolute(last or model.ground, body, point=point, axis=axis),
            ps.Cylindrical(last or model.ground, body, point=point, axis=axis),
        ]
        model.add_joint(f"j{k}", kinds[random.integers(3)])
        for side in range(3):
            ends = {
                "point_a": place + 3 * scale * unit(random),
                "point_b": place + scale * 0.3 * unit(random),
            }
            stiffness, damping = random.uniform(10, 100), random.uniform(0, 0.5)
            spring = ps.Spring(model.ground, body, stiffness=stiffness, damping=damping, **ends)
            model.add_force(f"s{k}{side}", spring)
        last = body
    if random.random() < 0.5:
        far = places[-1] + scale * unit(random)
        model.add_joint("rod", ps.Rod(model.ground, last, point_a=far, point_b=places[-1]))
    model.add_port("push", ps.ForcePort(last, point=places[-1]))
    return model


def same(one, other, tolerance):
    """Whether two sets of eigenvalues are one, whatever their order."""
    from scipy.optimize import linear_sum_assignment

    gap = abs(one[:, None] - other)
    return one.size == other.size and np.max(gap[linear_sum_assignment(gap)]) <= tolerance * np.max(
        abs(one)
    )


@laws(8)
@given(SEEDS)
def test_eigenvalues_are_the_same_in_all_coordinates(seed):
    model = mechanism(seed)
    found = [ps.analysis.poles(model, coordinates=c) for c in known.COORDINATES]
    for other in found[1:]:
        assert same(found[0], other, 1e-8)
    assert np.all(found[0].real < 1e-10 * np.max(abs(found[0])))


@laws(8)
@given(SEEDS)
def test_the_linear_system_is_port_hamiltonian_and_its_response_passive(seed):
    model = mechanism(seed)
    for coordinates in ("directors", "quaternions", "rotations"):
        linear = ps.analysis.linearise(model, coordinates=coordinates)
        assert isinstance(linear, ps.analysis.LinearPHSystem)
        assert linear.defects(linear.start).holds(1e-9)
        small = ps.analysis.minimal(linear)
        energy = np.linalg.eigvalsh(small.matrix_E.T @ small.matrix_Q)
        assert energy[0] > -1e-10 * energy[-1]
        omega = np.geomspace(0.1, 100, 5)
        whole, part = (ps.analysis.frequency_response(s, omega).values for s in (linear, small))
        assert np.max(abs(whole - part)) < 1e-8 * np.max(abs(whole))
        power = whole + np.conj(np.swapaxes(whole, 1, 2))
        assert np.min(np.linalg.eigvalsh(power)) > -1e-10 * np.max(abs(whole))


@laws(6)
@given(SEEDS)
def test_lengths_in_other_units_do_not_change_a_frequency(seed):
    # Stiffness does not depend on lengths, nor do frequencies on their unit.
    exact = ps.analysis.poles(mechanism(seed))
    for scale in (1e-3, 1e3):
        assert same(exact, ps.analysis.poles(mechanism(seed, scale)), 1e-7)


@laws(2)
@given(SEEDS)
def test_a_small_push_moves_the_mechanism_as_its_linear_system(seed):
    model = mechanism(seed)
    push = {"push": np.array([1e-7, 2e-7, -1e-7])}
    runs = [
        ps.simulate(system, scheme="ph-mp", h=0.01, t_end=0.2, inputs=push, engine="reference")
        for system in (ps.analysis.linearise(model), model.compile())
    ]
    small, whole = (run.port("push").y for run in runs)
    assert np.max(abs(small - whole)) < 1e-4 * np.max(abs(whole))
