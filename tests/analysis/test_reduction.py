"""Reduced systems against transfer functions of the full ones, written down independently."""

from functools import cache

import linear_models as known
import numpy as np
import pytest

import poinsot as ps

A = ps.analysis
METHODS = ("krylov", "irka", "prbt", "modal", "craig-bampton")
STIFF, MASS = 4000.0, 0.2


def springs(count, grounded=True):
    K = STIFF * (2 * np.eye(count) - np.eye(count, k=1) - np.eye(count, k=-1))
    K[0, 0] = STIFF
    K[-1, -1] = 2 * STIFF if grounded else STIFF
    return K


def chain(count=60, damping=0.01, grounded=True, ends=("near",)):
    """Masses in a row, springs and dampers between them and at the far end; ports at the ends."""
    K, one, none = springs(count, grounded), np.eye(count), np.zeros((count, count))
    B = np.zeros((2 * count, len(ends)))
    B[count, 0] = 1.0
    B[-1, 1:] = 1.0
    return ps.ph.linear(
        "chain",
        states=[ps.ph.State("q", count), ps.ph.State("v", count)],
        E=np.block([[one, none], [none, MASS * one]]),
        J=np.block([[none, one], [-one, none]]),
        R=np.block([[none, none], [none, damping * K]]),
        Q=np.block([[K, none], [none, one]]),
        B=B,
        ports=[ps.ph.Port(end, 1) for end in ends],
    )


def exact(s, count=60, damping=0.01, grounded=True, places=(0,)):
    """s (M s^2 + D s + K)^-1 between masses."""
    K = springs(count, grounded)
    whole = s * np.linalg.inv(MASS * s**2 * np.eye(count) + (1 + damping * s) * K)
    return whole[np.ix_(places, places)]


def of(system, s):
    """Transfer function of a port-Hamiltonian system from its matrices."""
    E, J, R, Q, B = (
        np.asarray(getattr(system, f"matrix_{letter}"), dtype=complex) for letter in "EJRQB"
    )
    return B.T @ Q @ np.linalg.solve(s * E - (J - R) @ Q, B)


@cache
def response():
    """Frequencies up to 20 rad/s, at peaks and beside them, and the response of the full chain."""
    peaks = 2 * np.sqrt(STIFF / MASS) * np.sin((2 * np.arange(1, 4) - 1) * np.pi / 242)
    omega = np.concatenate([np.linspace(0, 20, 401), *np.outer(peaks, (0.99, 1.0, 1.01))])
    return omega, np.array([exact(1j * w)[0, 0] for w in omega])


@pytest.mark.parametrize("method", METHODS)
def test_every_method_leaves_a_passive_port_hamiltonian_system_whose_error_is_the_one_stated(
    method,
):
    found = A.reduce(chain(), 12, method, band=(0, 20))
    small = found.system
    assert found.order == small.n == 12
    assert isinstance(small, ps.ph.LinearSystem)
    assert [p.name for p in small.ports] == ["near"]
    assert np.max(abs(small.matrix_J + small.matrix_J.T)) == 0
    assert np.linalg.eigvalsh(small.matrix_R)[0] > -1e-12 * np.max(abs(small.matrix_R))
    assert np.linalg.eigvalsh(small.matrix_Q)[0] > 0
    assert found.structure.holds(1e-10)
    assert found.stable
    assert found.passive
    omega, full = response()
    gaps = abs(full - [of(small, 1j * w)[0, 0] for w in omega])
    assert np.max(gaps) <= (1 + 1e-3) * found.band_error * np.max(abs(full)) + 1e-12
    assert np.max(gaps) >= 0.8 * found.band_error * np.max(abs(full)) - 1e-12
    assert found.band_error <= (1 + 1e-6) * found.h_infinity_error
    everywhere = np.geomspace(1e-2, 1e3, 100)
    power = [of(small, 1j * w)[0, 0].real for w in everywhere]
    assert np.min(power) > -1e-9 * np.max(power)


def test_ten_times_fewer_states_suffice_in_the_band():
    found = A.reduce(chain(), 12, band=(0, 20))
    assert found.full.n == 10 * found.order
    assert found.band_error < 1e-3


@pytest.mark.parametrize("point", [0.0, 7.0, 3.0 + 12.0j, 9.0j])
def test_moments_about_points_are_those_of_the_full_system(point):
    found = A.reduce(chain(), 12, points=[point])
    ((s, count),) = found.matched
    assert s == point
    assert count >= (3 if np.imag(point) else 6)
    # Derivatives by Cauchy's integral; the matrices are symmetric, so that twice as many agree.
    circle = 0.5 * np.exp(2j * np.pi * np.arange(32) / 32)
    moments = [
        np.array([f(point + d)[0, 0] for d in circle])
        for f in (exact, lambda s: of(found.system, s))
    ]
    for j in range(min(count, 6)):
        full, small = (np.mean(m / circle**j) for m in moments)
        assert abs(full - small) < 1e-7 * np.mean(abs(moments[0])) * 2**j


def test_points_alone_match_one_moment_each_of_all_ports():
    found = A.reduce(chain(ends=("near", "far")), points=[2.0, 5j, -5j])
    assert found.matched == ((2.0 + 0j, 1), (5j, 1))
    assert found.order == 2 * (2 + 4)
    for s in (2.0, 5j):
        full = exact(s, places=(0, 59))
        assert np.max(abs(of(found.system, s) - full)) < 1e-10 * np.max(abs(full))


def test_norms_are_those_of_pymor():
    iosys = pytest.importorskip("pymor.models.iosys")
    found = A.reduce(chain(20, damping=0.02), 6, "modal")
    full, small = (
        iosys.LTIModel(form.A, form.B, form.C, form.D, form.E)
        for form in (found.full.to_pymor(), found.system.to_pymor())
    )
    assert found.h2_error == pytest.approx((full - small).h2_norm() / full.h2_norm(), rel=1e-5)
    omega = np.geomspace(0.1, 1000, 20000)
    gain = [abs(exact(1j * w, 20, 0.02)[0, 0]) for w in omega[::10]]
    assert found.h_infinity_error * max(gain) == pytest.approx(
        max(
            abs(exact(1j * w, 20, 0.02)[0, 0] - of(found.system, 1j * w)[0, 0]) for w in omega[::5]
        ),
        rel=2e-2,
    )


def test_modal_truncation_keeps_the_frequencies_of_the_closed_form():
    found = A.reduce(chain(40, damping=0.0), 10, "modal")
    # A free near end and a held far end.
    j = np.arange(1, 6)
    omega = 2 * np.sqrt(STIFF / MASS) * np.sin((2 * j - 1) * np.pi / (4 * 40 + 2))
    kept = np.sort(found.poles.imag[found.poles.imag > 0])
    assert np.max(abs(kept / omega - 1)) < 1e-10
    assert found.h2_error == found.h_infinity_error == np.inf
    assert "infinite" in found.notes[0]
    assert found.passive


def test_craig_bampton_keeps_displacements_of_ports_as_coordinates_and_their_statics():
    found = A.reduce(chain(ends=("near", "far")), 12, "craig-bampton")
    small = found.system
    assert np.max(abs(small.block("B")[:2] - np.eye(2))) < 1e-10
    assert np.max(abs(small.block("B")[2:])) < 1e-10
    compliance = np.linalg.inv(springs(60))[np.ix_((0, 59), (0, 59))]
    reduced = small.block("B").T @ np.linalg.solve(small.block("K"), small.block("B"))
    assert np.max(abs(reduced - compliance)) < 1e-10 * np.max(compliance)


def test_rigid_motions_are_kept_so_that_errors_are_finite():
    found = A.reduce(chain(grounded=False), 16, band=(0, 30))
    assert found.stable
    assert found.passive
    assert np.isfinite(found.h_infinity_error)
    assert found.band_error < 1e-3
    s = 1e-2
    assert of(found.system, s)[0, 0] == pytest.approx(exact(s, grounded=False)[0, 0], rel=1e-6)


@pytest.mark.parametrize("coordinates", ["directors", "quaternions", "rotations"])
def test_a_mechanism_with_constraints_is_reduced_as_its_chain_of_masses(coordinates):
    model, _ = known.chain(12)
    model.add_force("damper", ps.JointSpring("j3", stiffness=0.0, damping=5.0))
    model.add_port("near", ps.JointPort("j0"))
    found = A.reduce(model, 8, points=[0.0, 4j], coordinates=coordinates)
    K = 100 * (2 * np.eye(12) - np.eye(12, k=1) - np.eye(12, k=-1))
    K[-1, -1] = 100
    D = np.zeros((12, 12))
    D[3, 3] = 5.0
    full = (4j * np.linalg.inv(K + 4j * D - 16 * np.eye(12)))[0, 0]
    assert of(found.system, 4j)[0, 0] == pytest.approx(full, rel=1e-8)
    assert found.passive
    assert found.projection.shape == (found.full.n, found.order)


def test_a_circuit_is_reduced_with_its_energy():
    rng = np.random.default_rng(1)
    S = rng.normal(size=(30, 30))
    circuit = ps.ph.linear(
        "circuit",
        states=[ps.ph.State("x", 30)],
        J=S - S.T,
        R=np.diag(rng.uniform(0.5, 1.0, 30)),
        Q=np.diag(rng.uniform(1.0, 2.0, 30)),
        B=np.eye(30)[:, :1],
        ports=[ps.ph.Port("p", 1)],
    )
    found = A.reduce(circuit, 9, points=[1.0, 3j])
    for s in (1.0, 3j):
        assert of(found.system, s)[0, 0] == pytest.approx(of(circuit, s)[0, 0], rel=1e-9)
    assert found.passive
    assert found.structure.holds(1e-10)


def test_a_pendulum_moves_alike_with_the_reduced_chain_and_balances_are_exact():
    found = A.reduce(chain(), 12, band=(0, 20))
    runs = []
    for part in (found.full, found.system):
        model = ps.Model(gravity=(0, 0, -9.81))
        tilt = ps.Rotation.from_axis_angle((1, 0, 0), 0.6)
        place = (0, 0.5 * np.sin(0.6), -0.5 * np.cos(0.6))
        shape = ps.Box(mass=2.0, size=(0.1, 0.1, 1.0))
        rod = model.add_body("rod", shape, position=place, rotation=tilt)
        model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(1, 0, 0)))
        model.add_port("pinion", ps.JointPort("hinge"))
        whole = ps.ph.interconnect(
            model.compile("rotations"),
            part.prefixed("chain"),
            connections=ps.ph.Transformer("pinion", "chain.near", C=[[0.1]]),
        )
        runs.append(ps.simulate(whole, h=0.02, t_end=1.0))
        assert np.max(abs(runs[-1].balance_error)) < 1e-12
    full, small = (run["rod.zeta"] for run in runs)
    # What the step at the start excites lies outside of the band, too.
    assert np.max(abs(full - small)) < 1e-3 * np.max(np.ptp(full, axis=0))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": 200}, "not less than the 120 independent states"),
        ({"order": 11, "band": (0, 5)}, "is odd"),
        ({"order": 0}, "at least 1"),
        ({"order": 12, "method": "balancing"}, "no method 'balancing'.*'craig-bampton'"),
        ({"order": 12}, "needs points, or a band"),
        ({}, "give the order"),
        ({"order": 12, "band": (5, 1)}, "ascending frequencies"),
        ({"order": 12, "points": ["a"]}, "expected complex numbers"),
        ({"order": 12, "points": [np.inf]}, "finite"),
        ({"order": 12, "method": "modal", "points": [1.0]}, "does not use points"),
    ],
)
def test_what_cannot_be_reduced_is_refused(arguments, message):
    with pytest.raises(ps.InputError, match=message):
        A.reduce(chain(), **arguments)


def test_irka_starts_from_ports_that_move_something_and_independently():
    # A wheel on its guide takes up two of three forces, and a second port acts like the first.
    model, _ = known.chain(6)
    for k in range(6):
        model.add_force(f"d{k}", ps.JointSpring(f"j{k}", stiffness=0.0, damping=0.5))
    model.add_port("push", ps.ForcePort(model.bodies["b5"]))
    alone = A.reduce(model, 4, "irka")
    model.add_port("again", ps.ForcePort(model.bodies["b5"]))
    both = A.reduce(model, 4, "irka")
    assert alone.passive
    assert both.passive
    assert both.h_infinity_error == pytest.approx(alone.h_infinity_error, rel=1e-3)


def test_poles_missing_ports_and_missing_damping_are_refused():
    undamped = chain(40, damping=0.0)
    pole = 2j * np.sqrt(STIFF / MASS) * np.sin(np.pi / 162)
    with pytest.raises(ps.InputError, match="is a pole"):
        A.reduce(undamped, 8, points=[pole])
    with pytest.raises(ps.InputError, match="undamped"):
        A.reduce(undamped, 8, "prbt")
    with pytest.raises(ps.InputError, match="no ports"):
        A.reduce(known.chain(5)[0], 4, "modal")
    with pytest.raises(ps.StructureError, match="energy is not positive"):
        A.reduce(chain(grounded=False), 8, "irka")
    with pytest.raises(ps.InputError, match="order 2 is too small"):
        A.reduce(chain(ends=("near", "far")), 2, "craig-bampton")
