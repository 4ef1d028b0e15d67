"""Contacts as generalised directions, as parts of systems, and what is refused of them."""

import numpy as np
import pytest
from numerics import jacobian
from rolling_models import GRAVITY, MODELS, UP, ball, coin, sleigh
from same import assert_same

import poinsot as ps
from poinsot.frames.forms import Height, direction, point
from poinsot.frames.stacks import stack
from poinsot.parts.contacts import Ball, Blade, Disc
from poinsot.ph.matrices import dense

X, A = (0.03, -0.02, 0.05), (0.36, 0.48, 0.8)
N = (2 / 7, 3 / 7, 6 / 7)
CONTACTS = {
    "blade": Blade((0,), X, A),
    "ball": Ball((0,), X, (0.1, 0.2, -0.3), ((1, 0, 0), (0, 0.6, 0.8))),
    "disc": Disc((0,), X, A, N, (0.1, 0.2, 0.3)),
    "disc that slips sideways": Disc((0,), X, A, N, (0.1, 0.2, 0.3), rows=1),
}


def anywhere(seed):
    """Coordinates of a body whose directors are not orthonormal, as at a midpoint."""
    random = np.random.default_rng(seed)
    q = np.concatenate([random.standard_normal(3), np.eye(3).reshape(-1)])
    return q + 0.2 * random.standard_normal(12)


@pytest.mark.parametrize("name", CONTACTS)
def test_tangents_are_derivatives(name):
    contact, random = CONTACTS[name], np.random.default_rng(1)
    q, v, u = anywhere(2), random.standard_normal(12), random.standard_normal(contact.size)
    np.testing.assert_allclose(contact.dB(q, u), jacobian(lambda x: contact.B(x) @ u, q), atol=1e-9)
    np.testing.assert_allclose(
        contact.dy(q, v), jacobian(lambda x: contact.B(x).T @ v, q), atol=1e-9
    )


def turned(seed):
    """A rotation, a position, and velocities."""
    random = np.random.default_rng(seed)
    R = ps.Rotation.from_axis_angle(random.standard_normal(3), random.uniform(0, 3)).matrix
    return R, *random.standard_normal((3, 3))


@pytest.mark.parametrize("seed", range(5))
def test_a_disc_forbids_the_velocity_of_its_lowest_point(seed):
    """Times the sine of the angle between axis and normal."""
    R, r, v, omega = turned(seed)
    contact = CONTACTS["disc"]
    radius, a, normal = 0.25, R @ A, np.array(N)
    sine = np.linalg.norm(np.cross(a, normal))
    # Put the centre where the rim touches the plane.
    centre = r + R @ X
    r = r + (radius * sine - normal @ (centre - contact.base)) * normal
    rho = R @ X - radius * (normal - (a @ normal) * a) / sine
    slip = v + np.cross(omega, rho)
    q = np.concatenate([r, R.T.reshape(-1)])
    rate = np.concatenate([v, np.cross(omega, R.T).reshape(-1)])
    along, across = np.cross(a, normal), a - (a @ normal) * normal
    np.testing.assert_allclose(contact.B(q).T @ rate, [along @ slip, across @ slip], atol=1e-12)
    np.testing.assert_allclose(contact.rates(q[None], rate[None])[0], contact.B(q).T @ rate)


def test_the_height_of_a_disc_is_a_quadratic_form():
    form = Height(
        (), -(0.25**2) / 2, n=N, r=point(0, X) - point(-1, (0.1, 0.2, 0.3)), a=direction(0, A)
    )
    forms, q = stack([form], 1), anywhere(3)
    blocks = q.reshape(4, 3)
    r, a = blocks[0] + np.array(X) @ blocks[1:] - (0.1, 0.2, 0.3), np.array(A) @ blocks[1:]
    by_hand = ((r @ N) ** 2 + (a @ N) ** 2 - 0.25**2) / 2
    assert forms(q)[0] == pytest.approx(by_hand, rel=1e-14)
    np.testing.assert_allclose(dense(forms.G(q)), jacobian(forms, q), atol=1e-9)
    assert forms.values(q[None])[0, 0] == pytest.approx(by_hand, rel=1e-14)


@pytest.mark.parametrize("coordinates", ["directors", "quaternions"])
@pytest.mark.parametrize("name", MODELS)
def test_systems_with_contacts_prove_their_structure(name, coordinates):
    model, _ = MODELS[name]()
    system = model.compile(coordinates)
    x = system.start
    if coordinates == "directors":
        x = x + 0.1 * np.random.default_rng(5).standard_normal(system.n)
    defects = system.defects(x)
    assert defects.holds(1e-6), str(defects)


@pytest.mark.parametrize("scheme", ["ph-dg", "ph-avf"])
def test_other_gradients_keep_the_energy_of_what_rolls(scheme):
    model, _ = coin()
    result = ps.simulate(model, h=0.01, t_end=0.2, scheme=scheme)
    assert np.ptp(result.energy) <= 1e-11


# -- the start -----------------------------------------------------------------------------------


def test_velocities_left_out_are_those_of_rolling():
    model, _ = coin(tilt=0.0, spin=8.0, turn=0.0)
    v, omega = model.start_velocities()["body"]
    np.testing.assert_allclose(v, (0.8, 0, 0), atol=1e-12)
    np.testing.assert_allclose(omega, (0, 8, 0), atol=1e-12)


def test_degrees_of_freedom_count_what_cannot_slip():
    assert coin()[0].check().freedoms == ball()[0].check().freedoms == 3
    assert sleigh()[0].check().freedoms == 2
    assert ps.simulate(coin()[0], h=0.01, t_end=0.02).observation.counts.freedoms == 3


def test_velocities_that_slip_are_refused_or_projected():
    model = ps.Model()
    body = model.add_body(
        "body",
        ps.Sphere(mass=1, radius=0.1),
        position=(0, 0, 0.1),
        velocity=(0, 1, 0),
        angular_velocity=(0, 0, 3),
    )
    model.add_joint("contact", ps.RollingSphere(model.ground, body, radius=0.1))
    with pytest.raises(ps.InconsistentStartError, match="violate the joints: 'contact' by 1"):
        model.compile()
    model.project_velocities()
    v, omega = model.start_velocities()["body"]
    np.testing.assert_allclose(v - np.cross(omega, (0, 0, 0.1)), 0, atol=1e-12)


def test_a_gap_at_the_start_is_refused():
    model = ps.Model()
    body = model.add_body("body", ps.Sphere(mass=1, radius=0.1), position=(0, 0, 0.2))
    with pytest.raises(ps.InconsistentStartError, match=r"'height' is violated by 0\.1"):
        model.add_joint("contact", ps.RollingSphere(model.ground, body, radius=0.1))
    with pytest.raises(ps.InconsistentStartError, match="'height' is violated by"):
        model.add_joint("contact", ps.RollingDisc(model.ground, body, radius=0.1))


def test_what_is_forbidden_already_is_refused_with_its_name():
    model, _ = sleigh(spin=0)
    body = model.bodies["body"]
    model.add_joint("twin", ps.KnifeEdge(model.ground, body, point=(0.7, 0, 0), along=(1, 0, 0)))
    model.add_joint("third", ps.KnifeEdge(model.ground, body, point=(0.1, 0, 0), along=(1, 0, 0)))
    for act in (model.check, model.compile):
        with pytest.raises(ps.InputError, match=r"'third: sideways' \[BHRS25, eq. \(13\)\]"):
            act()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda g, b: ps.RollingDisc(b, g, radius=1), "the plane belongs to model.ground"),
        (lambda g, b: ps.RollingDisc(g, g, radius=1), "expected a body that can move"),
        (lambda g, b: ps.RollingDisc(g, b, radius=-1), "radius is -1; it must be positive"),
        (lambda g, b: ps.RollingDisc(g, b, radius="x"), "radius: expected a number"),
        (lambda g, b: ps.RollingDisc(g, b, radius=1, axis=(0, 0, 2)), "lies flat"),
        (lambda g, b: ps.RollingDisc(g, b, radius=1, axis=(0, 0)), "three finite numbers"),
        (lambda g, b: ps.RollingDisc(g, b, radius=1, sideways=1), "expected true or false"),
        (lambda g, b: ps.RollingSphere(g, b, radius=1, normal=(0, 0, 0)), "is zero"),
        (lambda g, b: ps.RollingDisc(g, b, radius=1, normal=(0, 0, -1)), "reverse the normal"),
        (
            lambda g, b: ps.KnifeEdge(
                g, b, point=(0, 0, 0), along=(0.1, 0.2, 0.3), normal=(0.7, 1.4, 2.1)
            ),
            "parallel or zero",
        ),
        (lambda g, b: ps.KnifeEdge(g, b, point=(0, 0, 0), along=(0, 0, 1)), "parallel or zero"),
        (lambda g, b: ps.Wheel(b, ps.Sphere(mass=1, radius=1), (0, 0, 1)), "expected a Cylinder"),
        (
            lambda g, b: ps.Wheel(
                b, ps.Cylinder(mass=1, radius=1, length=1), (0, 0, 1), steering=(0, 0, 1)
            ),
            "give both steering .* and fork",
        ),
        (
            lambda g, b: ps.Wheel(
                b,
                ps.Cylinder(mass=1, radius=1, length=1),
                (0, 0, 1),
                steering=(0, -2, 0),
                fork=ps.Sphere(mass=1, radius=1),
            ),
            "steering is parallel to the axle",
        ),
    ],
)
def test_bad_input_says_what_to_do(make, message):
    model = ps.Model()
    body = model.add_body("body", ps.Sphere(mass=1, radius=1), position=(0, 0, 1))
    with pytest.raises(ps.InputError, match=message):
        make(model.ground, body)


def test_an_assembly_is_added_whole_or_not_at_all():
    model = ps.Model()
    chassis = model.add_body("chassis", ps.Sphere(mass=1, radius=0.1), position=(0, 0, 0.1))
    shape, fork = ps.Cylinder(mass=1, radius=0.1, length=0.02), ps.Sphere(mass=1, radius=0.05)
    steered = {"steering": (0, 0, 1), "fork": fork}
    with pytest.raises(ps.InconsistentStartError, match=r"its centre is 0\.2 m above the plane"):
        model.add_assembly("wheel", ps.Wheel(chassis, shape, (1, 0, 0.2), **steered))
    assert (list(model.bodies), list(model.joints)) == (["chassis"], [])
    wheel, turning = model.add_assembly("wheel", ps.Wheel(chassis, shape, (1, 0, 0.1), **steered))
    assert (wheel.name, turning.name) == ("wheel", "wheel.fork")
    assert model.check().bodies == 3


def test_nothing_acts_along_a_contact():
    model, _ = coin()
    with pytest.raises(ps.InputError, match="has no coordinate to act on"):
        model.add_force("brake", ps.JointFriction("contact", coulomb=1))


def test_slips_of_bodies_far_away_are_round_off_too():
    model = ps.Model()
    ball = model.add_body(
        "ball", ps.Sphere(mass=1, radius=0.1), position=(1e4, 1e4, 0.1), angular_velocity=(1, 20, 3)
    )
    model.add_joint("table", ps.RollingSphere(model.ground, ball, radius=0.1))
    for coordinates in ("directors", "quaternions", "rotations"):
        options = {"coordinates": coordinates, "engine": "reference"}
        result = ps.simulate(model, h=0.01, t_end=0.2, **options)
        assert result.velocity_constraint_error_mid.max() <= 1e-13


# -- files ---------------------------------------------------------------------------------------

FILE = """
poinsot: 1
gravity: [0, 0, -9.81]
bodies:
  coin: {cylinder: {mass: 0.1, radius: 0.1, length: 0.01}, position: [0, 0, 0.1],
         rotation: {axis_angle: {axis: [1, 0, 0], angle: 1.5707963267948966}},
         angular_velocity: [0, 5, 0.3]}
  ball: {sphere: {mass: 0.3, radius: 0.2}, position: [2, 0, 0.2], angular_velocity: [1, 2, 3]}
  skate: {box: {mass: 1, size: [0.3, 0.02, 0.1]}, position: [0, 2, 0.05], velocity: [1, 0, 0]}
joints:
  rim: {rolling_disc: {bodies: [ground, coin], radius: 0.1, axis: [0, 1, 0]}}
  floor: {rolling_sphere: {bodies: [ground, ball], radius: 0.2}}
  ice: {planar: {bodies: [ground, skate], point: [0, 2, 0], normal: [0, 0, 1]}}
  edge: {knife_edge: {bodies: [ground, skate], point: [-0.1, 2, 0], along: [1, 0, 0]}}
"""


def test_files_hold_contacts_bit_by_bit():
    model = ps.Model.from_yaml_text(FILE)
    again = ps.Model.from_yaml_text(model.to_yaml())
    one, other = (ps.simulate(m, h=0.01, t_end=0.1, engine="reference") for m in (model, again))
    assert_same(one, other)
    assert np.ptp(one.energy) <= 1e-12


def test_a_typo_in_a_file_is_found():
    with pytest.raises(ps.ModelFileError, match="radios"):
        ps.Model.from_yaml_text(FILE.replace("radius: 0.2}}", "radios: 0.2}}"))


def test_a_run_keeps_the_contact_force_in_its_file(tmp_path):
    model, _ = coin()
    result = ps.simulate(model, h=0.01, t_end=0.2, output=tmp_path / "run.nc")
    again = ps.load(tmp_path / "run.nc")
    force = again.reaction("contact").force
    np.testing.assert_array_equal(force, result.reaction("contact").force)
    mass = model.bodies["body"].mass
    weight = np.diff(mass * again.velocity("body"), axis=0) / 0.01 - mass * GRAVITY
    np.testing.assert_allclose(force, weight, atol=1e-9)
    assert UP @ force[0] > 0
