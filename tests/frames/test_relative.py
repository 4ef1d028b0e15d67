"""The six coordinates of two frames: helices, rigid motions, and exact differences over a step."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mechanisms import laws
from numerics import jacobian
from scipy.integrate import quad_vec
from scipy.spatial.transform import Rotation

from poinsot.frames.relative import Placed, coordinates, many_coordinates


def forms(r, A, B):
    """The seven forms by their definition; axes are columns."""
    S = A.T @ B
    turned = np.array([S[2, 1] - S[1, 2], S[0, 2] - S[2, 0], S[1, 0] - S[0, 1]]) / 2
    return np.concatenate([(A + B).T @ r / 2, turned, [(1 + np.trace(S)) / 4]])


def test_a_helix_has_its_own_strains_to_the_fourth_power_of_the_angle():
    axis, Gamma, errors = np.array([1.0, 2.0, -1.0]) / np.sqrt(6), np.array([0.2, -0.3, 1.1]), []
    for angle in (0.4, 0.2):
        r, _ = quad_vec(lambda s: Rotation.from_rotvec(s * angle * axis).apply(Gamma), 0, 1)  # noqa: B023
        chi = coordinates(forms(r, np.eye(3), Rotation.from_rotvec(angle * axis).as_matrix()))
        errors.append([np.linalg.norm(chi[:3] - Gamma), np.linalg.norm(chi[3:] / angle - axis)])
        assert errors[-1][1] == pytest.approx(angle**4 / 120, rel=0.05)
    assert np.log2(np.divide(*errors)) == pytest.approx([4, 4], abs=0.1)


@laws(20)
@given(seed=st.integers(0, 10**6))
def test_rigid_motions_change_no_coordinate_and_exchanged_frames_change_signs(seed):
    random = np.random.default_rng(seed)
    A, B, Q = Rotation.random(3, random_state=seed).as_matrix()
    r, w = random.standard_normal(3), (1 + np.trace(A.T @ B)) / 4
    if w < 1e-2:
        return
    chi = coordinates(forms(r, A, B))
    assert coordinates(forms(Q @ r, Q @ A, Q @ B)) == pytest.approx(chi, rel=1e-10, abs=1e-10 / w)
    assert coordinates(forms(-r, B, A)) == pytest.approx(-chi, rel=1e-10, abs=1e-10 / w)
    assert many_coordinates(forms(r, A, B)[None])[0] == pytest.approx(chi, rel=1e-14)


@laws(20)
@given(seed=st.integers(0, 10**6))
def test_secants_are_exact_and_derivatives_are_those_of_the_coordinates(seed):
    random = np.random.default_rng(seed)
    s0, s1 = (np.append(0.3 * random.standard_normal(6), random.uniform(0.4, 1)) for _ in "01")
    f = random.standard_normal(6)
    start, end = Placed.at(s0), Placed.at(s1)
    mean = start.mean(end)
    assert mean.slope @ (s1 - s0) == pytest.approx(coordinates(s1) - coordinates(s0), abs=1e-13)
    assert start.slope == pytest.approx(jacobian(coordinates, s0), abs=1e-9)
    inner = jacobian(lambda s: Placed.at(s).slope.T @ f, s0)
    assert start.bend(f, start, 1.0) == pytest.approx(inner, abs=1e-8)
    outer = jacobian(lambda s: start.mean(Placed.at(s)).slope.T @ f, s1)
    assert mean.bend(f, end, 0.5) == pytest.approx(outer, abs=1e-8)
