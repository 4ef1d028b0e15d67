"""Loops whose constraints repeat each other, through configurations that tell rows apart."""

import numpy as np
import pytest

import poinsot as ps

SCHEMES = ("ph-mp", "ph-mp-ggl")


def two_balls(spin):
    """Two bodies pinned together at two points: one turn is free, one equation is repeated."""
    model = ps.Model()
    a = model.add_body("a", ps.Sphere(mass=2, radius=0.5), angular_velocity=spin)
    b = model.add_body("b", ps.Sphere(mass=1, radius=0.4), angular_velocity=spin)
    model.add_joint("p", ps.Spherical(a, b, point=(0, 0, 0.5)))
    model.add_joint("q", ps.Spherical(a, b, point=(0, 0, -0.5)))
    return model


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("spin", [(1, 0, 0), (1, 1e-6, 0), (0.3, 1, 0.2)])
def test_a_repeated_equation_stays_harmless_when_the_pair_turns_through_a_right_angle(scheme, spin):
    h = 2 * np.tan(np.pi / 4 / 10.5)  # a midpoint falls on 90 degrees of the first spin
    result = ps.simulate(two_balls(spin), h=h, t_end=40 * h, scheme=scheme)
    H, L = result.energy, result.angular_momentum
    assert abs(H - H[0]).max() <= 1e-13 * H[0]
    assert abs(L - L[0]).max() <= 1e-13 * np.linalg.norm(L[0])
    assert result.constraint_error.max() <= 1e-14


def bennett():
    """Bennett's linkage: four hinges on skew axes that move although they should not."""
    a, alpha, b = 1.0, np.radians(40.0), 1.3
    beta = np.arcsin(b / a * np.sin(alpha))
    lengths, twists = (a, b, a, b), (alpha, beta, alpha, beta)

    def frames(theta):
        """Denavit-Hartenberg frames of the closed loop at crank angle theta."""
        other = 2 * np.arctan(
            np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2) / np.tan(theta / 2)
        )
        R, p, out = np.eye(3), np.zeros(3), []
        for length, twist, angle in zip(
            lengths, twists, (theta, other, -theta, -other), strict=True
        ):
            turn = ps.Rotation.from_axis_angle((0, 0, 1), angle).matrix
            out.append((p.copy(), R[:, 2].copy()))
            R = R @ turn
            p = p + length * R[:, 0]
            R = R @ ps.Rotation.from_axis_angle((1, 0, 0), twist).matrix
        return out, p

    pins, end = frames(1.0)
    assert np.linalg.norm(end) < 1e-12
    model = ps.Model()
    links = [model.ground]
    for k in range(3):
        middle = (pins[k + 1][0] + pins[(k + 2) % 4][0]) / 2
        links.append(model.add_body(f"link {k}", ps.Sphere(mass=1, radius=0.2), position=middle))
    for k, (point, axis) in enumerate(pins):
        pair = (links[k - 1], links[k])
        model.add_joint(f"pin {k}", ps.Revolute(*pair, point=point, axis=axis))
    return model


@pytest.mark.parametrize("scheme", SCHEMES)
def test_bennetts_linkage_moves_with_exact_balances(scheme):
    model = bennett()
    check = model.check()
    assert (check.freedoms, len(check.repeated)) == (1, 3)
    model.add_port("motor", ps.JointPort("pin 1", value=lambda t: 2.0 if t < 0.5 else 0.0))
    result = ps.simulate(model, h=0.01, t_end=3.0, scheme=scheme)
    assert result.energy[-1] > 0.02
    assert result.stats.balance_error_max <= 1e-12 * result.energy.max()
    assert result.constraint_error.max() <= 1e-13
    if scheme == "ph-mp-ggl":
        assert result.velocity_constraint_error.max() <= 1e-12


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_a_fast_pendulum_of_any_size_is_stabilised(length):
    model = ps.Model()
    bar = model.add_body(
        "bar",
        ps.Box(mass=1, size=(length, length / 10, length / 10)),
        position=(length / 2, 0, 0),
        angular_velocity=(0, 0, 1e3),
    )
    model.add_joint("pin", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 0, 1)))
    result = ps.simulate(model, h=1e-5, t_end=1e-3, scheme="ph-mp-ggl")
    assert abs(result.energy - result.energy[0]).max() <= 1e-12 * result.energy[0]
    assert result.constraint_error.max() <= 1e-12 * max(1.0, length)
