"""A coordinate moves, and loops follow: closed forms, branches, singular positions, limits."""

import numpy as np
import pytest
from assembly_models import at, bennett, bricard, four_bar, rocker

import poinsot as ps

GRASHOF = (1.0, 2.0, 2.0, 2.5)


@pytest.mark.parametrize("branch", [1, -1])
def test_a_four_bar_follows_its_crank_as_in_closed_form(branch):
    model = four_bar(branch=branch).model()
    sweep = model.move("A", to=np.linspace(0, 2 * np.pi, 25))
    drawn = rocker(GRASHOF, 0.7, branch)
    theta = 0.7 + sweep.values
    expected = [np.exp(1j * (rocker(GRASHOF, t, branch) - drawn)) for t in theta]
    assert np.allclose(np.exp(1j * sweep.coordinates("D")["angle"]), expected, atol=1e-10)
    step = 1e-5
    slope = [rocker(GRASHOF, t + step, branch) - rocker(GRASHOF, t - step, branch) for t in theta]
    assert np.allclose(sweep.ratio("D"), np.array(slope) / (2 * step), atol=1e-8)
    assert np.allclose([here.jacobian("rocker")[5, 0] for here in sweep], sweep.ratio("D"))
    assert sweep.singular == ()


def test_the_model_starts_where_the_coordinate_was_moved_to():
    model = four_bar().model()
    sweep = model.move("A", to=0.3)
    x, R = model.start_places()["rocker"]
    assert np.allclose(x, sweep.position("rocker")[-1])
    assert np.allclose(R, sweep.rotation("rocker")[-1])
    assert model.start_coordinates()["A"] == pytest.approx(0.3, abs=1e-12)
    model.move("A", to=0.0)
    drawn = four_bar().model().start_places()
    assert np.allclose(model.start_places()["rocker"][0], drawn["rocker"][0], atol=1e-10)


def test_a_coordinate_counts_its_turns():
    model = four_bar().model()
    assert model.move("A", to=7.0).coordinates("A")["angle"] == pytest.approx(7.0)


@pytest.mark.parametrize("to", [np.linspace(0, 6, 13), [np.pi - 0.7, 4.0]])
def test_a_parallelogram_goes_straight_through_its_flat_positions_which_are_named(to):
    model = four_bar((1.0, 2.0, 1.0, 2.0)).model()
    sweep = model.move("A", to=to)
    assert np.allclose(sweep.coordinates("D")["angle"], sweep.values, atol=1e-6)
    assert sweep.coordinates("D")["angle"][-1] == pytest.approx(to[-1], abs=1e-12)
    flat = [angle - 0.7 for angle in (np.pi, 2 * np.pi) if angle - 0.7 < to[-1]]
    assert [met.value for met in sweep.singular] == pytest.approx(flat, abs=1e-6)
    for met in sweep.singular:
        assert met.lost == 1
        assert met.joints == ("A", "B", "C", "D")


def bar(model, name, p, q):
    """A bar from p to q, points of the plane as complex numbers."""
    along = q - p
    turn = ps.Rotation.from_axis_angle((0, 0, 1), np.angle(along))
    shape = ps.Box(mass=1, size=(abs(along), 0.1, 0.1))
    return model.add_body(name, shape, position=at((p + q) / 2), rotation=turn)


def hinge(model, name, a, b, p):
    model.add_joint(name, ps.Revolute(a, b, point=at(p), axis=(0, 0, 1)))


@pytest.mark.parametrize("start", [0.4, 0.7])
def test_singular_positions_are_found_from_wherever_steps_lead_to_them(start):
    """With a rod as long as the crank, the slider may stay where the crank's hinge is."""
    model, u = ps.Model(), np.exp(1j * start)
    crank, rod = bar(model, "crank", 0, u), bar(model, "rod", u, 2 * u.real)
    slider = model.add_body("slider", ps.Box(mass=1, size=(0.2, 0.2, 0.2)), position=at(2 * u.real))
    hinge(model, "A", model.ground, crank, 0)
    hinge(model, "B", crank, rod, u)
    hinge(model, "C", rod, slider, 2 * u.real)
    rail = ps.Prismatic(model.ground, slider, point=at(2 * u.real), axis=(1, 0, 0))
    model.add_joint("rail", rail)
    sweep = model.move("A", to=np.pi - start)
    assert sweep.position("slider")[-1] == pytest.approx((-2, 0, 0))
    assert [met.value for met in sweep.singular] == pytest.approx([np.pi / 2 - start], abs=1e-6)
    assert (sweep.singular[0].lost, sweep.singular[0].joints) == (1, ("A", "B", "C", "rail"))


@pytest.mark.parametrize("to", [3.0, [np.pi - 0.7, 3.0]])
def test_two_parallelograms_that_are_flat_at_once_lose_two_ranks(to):
    model, u = ps.Model(), np.exp(0.7j)
    crank = bar(model, "crank", 0, u)
    hinge(model, "A", model.ground, crank, 0)
    for side in (2, -3):
        coupler = bar(model, f"coupler{side}", u, u + side)
        rocker = bar(model, f"rocker{side}", side, u + side)
        hinge(model, f"B{side}", crank, coupler, u)
        hinge(model, f"C{side}", coupler, rocker, u + side)
        hinge(model, f"D{side}", model.ground, rocker, side)
    sweep = model.move("A", to=to)
    (met,) = sweep.singular
    assert met.value == pytest.approx(np.pi - 0.7, abs=1e-6)
    assert (met.lost, set(met.joints)) == (2, set(model.joints))
    for side in (2, -3):
        assert sweep.coordinates(f"D{side}")["angle"][-1] == pytest.approx(3.0, abs=1e-9)


def test_a_value_beyond_a_dead_centre_is_refused_with_the_limit():
    lengths = a, b, c, d = 2.0, 1.5, 2.0, 2.5
    model = four_bar(lengths).model()
    with pytest.raises(
        ps.OutOfReachError, match="dead centre of joints 'A', 'B', 'C', 'D'"
    ) as caught:
        model.move("A", to=[0.5, 3.0])
    limit = np.arccos((a**2 + d**2 - (b + c) ** 2) / (2 * a * d)) - 0.7
    assert caught.value.limit == pytest.approx(limit, abs=1e-8)
    assert caught.value.sweep.values == pytest.approx([0.5])
    drawn = four_bar(lengths).model().start_places()
    assert np.array_equal(model.start_places()["rocker"][0], drawn["rocker"][0])  # nothing moved


def test_a_singular_start_has_no_branch_to_follow():
    model = four_bar((1.0, 2.0, 1.0, 2.0)).model()
    model.move("A", to=np.pi - 0.7)
    with pytest.raises(ps.InputError, match="singular position"):
        model.move("A", to=3.0)


def test_what_is_held_does_not_move():
    model = four_bar().model()
    model.add_port("motor", ps.Drive("A", "0.1*t"))
    with pytest.raises(ps.InputError, match="cannot move from where it starts"):
        model.move("D", to=1.0)


def test_bennetts_loop_keeps_the_product_of_its_half_angles():
    sweep = bennett().model().move("A", to=np.linspace(0.25, 1.5, 6))
    alpha = np.pi / 6
    beta = np.arcsin(2 * np.sin(alpha))
    product = np.sin((beta + alpha) / 2) / np.sin((beta - alpha) / 2)
    turned = {name: sweep.coordinates(name)["angle"] for name in "ABCD"}
    # It is drawn with the angle 1 at D, and the one at A that belongs to it.
    one, other = 1.0 + turned["D"], 2 * np.arctan(product / np.tan(0.5)) + turned["A"]
    assert np.allclose(np.tan(one / 2) * np.tan(other / 2), product, rtol=1e-8)
    assert np.allclose(turned["A"], -turned["C"], atol=1e-9)
    assert np.allclose(turned["B"], -turned["D"], atol=1e-9)


def test_bricards_ring_of_a_cube_opens_to_a_third_of_a_turn():
    model = bricard().model()  # drawn with right angles
    with pytest.raises(ps.OutOfReachError) as caught:
        model.move("A", to=1.0)
    assert caught.value.limit == pytest.approx(2 * np.pi / 3 - np.pi / 2, abs=1e-8)


def test_a_slider_stops_where_crank_and_rod_are_in_line():
    r, length = 0.5, 1.3
    model = ps.Model()
    B, far = np.array([0, r, 0]), np.array([np.sqrt(length**2 - r**2), 0, 0])
    crank = model.add_body("crank", ps.Box(mass=1, size=(0.1, r, 0.1)), position=B / 2)
    turn = ps.Rotation.from_axis_angle((0, 0, 1), -np.arcsin(r / length))
    bar = ps.Box(mass=1, size=(length, 0.1, 0.1))
    rod = model.add_body("rod", bar, position=(B + far) / 2, rotation=turn)
    block = model.add_body("block", ps.Box(mass=1, size=(0.2, 0.2, 0.2)), position=far)
    z = (0, 0, 1)
    model.add_joint("A", ps.Revolute(model.ground, crank, point=(0, 0, 0), axis=z))
    model.add_joint("B", ps.Revolute(crank, rod, point=B, axis=z))
    model.add_joint("C", ps.Revolute(rod, block, point=far, axis=z))
    model.add_joint("rail", ps.Prismatic(model.ground, block, point=far, axis=(1, 0, 0)))
    with pytest.raises(ps.OutOfReachError, match="cannot reach 1 m") as caught:
        model.move("rail", to=1.0)
    assert caught.value.limit == pytest.approx(r + length - far[0], abs=1e-9)
    sweep = model.move("A", to=np.linspace(0, 2 * np.pi, 9))  # the crank passes both dead centres
    theta = np.pi / 2 + sweep.values
    x = r * np.cos(theta) + np.sqrt(length**2 - (r * np.sin(theta)) ** 2)
    assert np.allclose(sweep.position("block")[:, 0], x, atol=1e-12)
    assert sweep.singular == ()


def test_an_open_chain_takes_the_motion_of_least_kinetic_energy():
    model = ps.Model()
    bar = ps.Box(mass=1.0, size=(1.0, 0.1, 0.1))
    one = model.add_body("one", bar, position=(0.5, 0, 0))
    two = model.add_body("two", bar, position=(1.5, 0, 0))
    model.add_joint("A", ps.Revolute(model.ground, one, point=(0, 0, 0), axis=(0, 0, 1)))
    model.add_joint("B", ps.Revolute(one, two, point=(1, 0, 0), axis=(0, 0, 1)))
    ratio = model.move("A", to=0.0).ratio("B")[0]
    M = model.configuration(coordinates=["A", "B"]).mass_matrix()
    assert ratio == pytest.approx(-M[1, 0] / M[1, 1], rel=1e-9)
