"""Models that come together: branches, what is kept, what cannot close, files."""

import numpy as np
import pytest
from assembly_models import GROUND, Linkage, Z, at, bennett, bricard, four_bar, rocker, turn

import poinsot as ps


def direction(model, body):
    """Where x of a body points at the start, as an angle about z."""
    R = model.start_places()[body][1]
    return np.arctan2(R[1, 0], R[0, 0])


def same_angle(a, b):
    return abs(np.exp(1j * a) - np.exp(1j * b)) < 1e-9


@pytest.mark.parametrize("branch", [1, -1])
def test_a_four_bar_finds_the_nearer_branch_with_its_crank_kept(branch):
    lengths = (1.0, 2.0, 2.0, 2.5)
    drawn = four_bar(branch=branch)
    rough = drawn.perturbed(np.random.default_rng(1), gap=0.3, angle=0.6, keep=("crank",))
    model = rough.model()
    found = model.assemble(keep="crank")
    assert "crank" not in found.moves
    assert np.array_equal(model.start_places()["crank"][0], rough.bodies["crank"][1])
    assert same_angle(direction(model, "rocker"), rocker(lengths, 0.7, branch))
    assert model.check().freedoms == 1


def test_hints_lead_to_the_other_branch():
    model, lengths = four_bar().model(), (1.0, 2.0, 2.0, 2.5)
    found = model.assemble(keep=["crank"], near={"D": 2.5})
    assert not found.reached  # the crank is kept, so that the rocker has two places only
    assert same_angle(direction(model, "rocker"), rocker(lengths, 0.7, -1))
    assert found.near["D"] == pytest.approx(model.start_coordinates()["D"], abs=1e-12)


def test_hints_are_met_where_joints_close_with_them():
    model, lengths = four_bar().model(), (1.0, 2.0, 2.0, 2.5)
    found = model.assemble(near={"A.angle": 2.0})
    assert found.reached
    assert found.near["A.angle"] == pytest.approx(2.0, abs=1e-12)
    theta = 0.7 + 2.0  # coordinates are zero as drawn
    assert same_angle(direction(model, "crank"), theta)
    assert any(same_angle(direction(model, "rocker"), rocker(lengths, theta, k)) for k in (1, -1))


def test_what_is_closed_stays():
    model = four_bar().model()
    found = model.assemble()
    assert found.moves == {}
    assert found.change < 1e-14
    assert "nothing moved" in str(found)


@pytest.mark.parametrize("theta", [0.4, 2.5])
def test_a_slider_crank_closes_as_in_closed_form(theta):
    r, length = 0.5, 1.3
    B = r * np.exp(1j * theta)
    x = B.real + np.sqrt(length**2 - B.imag**2)
    linkage = Linkage()
    linkage.add_body("crank", ps.Box(mass=1, size=(r, 0.1, 0.1)), at(B / 2), turn((0, 0, 1), theta))
    middle, tilt = (B + x) / 2, np.angle(x - B)
    linkage.add_body(
        "rod", ps.Box(mass=1, size=(length, 0.1, 0.1)), at(middle), turn((0, 0, 1), tilt)
    )
    linkage.add_body("block", ps.Box(mass=2, size=(0.2, 0.2, 0.2)), at(x), np.eye(3))
    linkage.add_joint("A", "Revolute", GROUND, "crank", at(0), Z)
    linkage.add_joint("B", "Revolute", "crank", "rod", at(B), Z)
    linkage.add_joint("C", "Revolute", "rod", "block", at(x), Z)
    rail = turn((0, 1, 0), np.pi / 2)  # z of the frame along x
    linkage.add_joint("rail", "Prismatic", GROUND, "block", at(0), rail, (np.array([0, 0, x]), Z))
    model = linkage.perturbed(np.random.default_rng(5), keep=("crank",)).model()
    model.assemble(keep="crank")
    assert np.allclose(model.start_places()["block"][0], (x, 0, 0), atol=1e-12)
    assert model.start_coordinates()["rail"] == pytest.approx(x, abs=1e-12)


@pytest.mark.parametrize("loop", [bennett, bricard])
def test_overconstrained_loops_come_together_and_move(loop):
    rough = loop().perturbed(np.random.default_rng(2))
    model = rough.model()
    model.assemble()
    assert max(rough.gaps(model.start_places())) < 1e-12
    assert model.check().freedoms == 1
    sweep = model.move("A", to=model.start_coordinates()["A"] + np.array([0.1, 0.2]))
    assert len(sweep) == 2
    assert max(rough.gaps(model.start_places())) < 1e-12


def test_a_rod_of_a_length_closes_at_that_length():
    model = ps.Model()
    bob = model.add_body("bob", ps.Sphere(mass=1.0, radius=0.1), position=(0, 0, -3))
    model.add_joint("string", ps.Rod(model.ground, bob, (0, 0, 0), (0, 0, -3), length=2.0))
    with pytest.raises(ps.InconsistentStartError, match=r"'string' by 1 m; call model.assemble"):
        model.check()
    found = model.assemble()
    assert np.allclose(model.start_places()["bob"][0], (0, 0, -2))
    assert found.moves["bob"].distance == pytest.approx(1.0)
    assert "bob  by 1 m" in str(found)


def test_gears_and_drives_are_respected():
    model = ps.Model()
    shape = ps.Cylinder(mass=1.0, radius=0.1, length=0.1)
    for k, name in enumerate(("one", "two")):
        wheel = model.add_body(name, shape, position=(k, 0.1, 0.2))
        axle = model.add_marker(f"{name} axle", model.ground, position=(k, 0, 0))
        hub = model.add_marker(f"{name} hub", wheel, position=(0, 0, 0), axes="body")
        model.add_joint(f"hinge {name}", ps.Revolute(axle, hub))
    model.add_transmission("gear", ps.Gear("hinge one", "hinge two", ratio=-2.0))
    model.add_port("motor", ps.Drive("hinge one", "0.8 + 3*t"))
    model.assemble()
    here = model.start_coordinates()
    assert here == pytest.approx({"hinge one": 0.8, "hinge two": -0.4}, abs=1e-12)
    result = ps.simulate(model, h=0.01, t_end=0.1)
    assert result.joint("hinge two").coordinates["angle"][-1] == pytest.approx(-0.55, abs=1e-9)


def test_a_drive_by_its_rate_begins_anywhere():
    rough = four_bar().perturbed(np.random.default_rng(1))
    model, free = rough.model(), rough.model()
    model.add_port("motor", ps.Drive("A", rate=2.0))
    assert model.assemble().change == pytest.approx(free.assemble().change, rel=1e-9)
    assert model.start_velocities()["crank"][1] == pytest.approx((0, 0, 2.0), abs=1e-12)


def test_velocities_are_completed_or_projected():
    rough = four_bar().perturbed(np.random.default_rng(1), gap=0.3, angle=0.6)
    model = ps.Model()
    known = {GROUND: model.ground}
    for name, (shape, x, R) in rough.bodies.items():
        spin = (1.0, 2.0, 3.0) if name == "crank" else None
        known[name] = model.add_body(name, shape, position=x, rotation=R, angular_velocity=spin)
    for name, (kind, a, b, on_a, on_b, _) in rough.joints.items():
        ends = [
            model.add_marker(f"{name}{k}", known[n], position=p, rotation=R, axes="body")
            for k, (n, (p, R)) in enumerate(((a, on_a), (b, on_b)))
        ]
        model.add_joint(name, getattr(ps, kind)(*ends))
    found = model.assemble()
    assert found.projected  # the crank cannot turn about x and y
    spin = model.start_velocities()["crank"][1]
    assert np.allclose(spin[:2], 0, atol=1e-9)
    assert abs(spin[2]) > 0.1
    result = ps.simulate(model, h=1e-3, t_end=0.05)
    assert result.constraint_error.max() < 1e-10


def test_what_cannot_close_is_refused_with_joints_gaps_and_the_best_places():
    linkage = four_bar()  # bars of 1, 2 and 2 m between pivots 7.5 m apart
    kind, a, b, (_, axes), on_b, more = linkage.joints["D"]
    linkage.joints["D"] = kind, a, b, (at(7.5), axes), on_b, more
    model = linkage.model()
    before = model.start_places()
    with pytest.raises(ps.AssemblyError, match="do not close; the smallest gaps are") as caught:
        model.assemble()
    error = caught.value
    assert sum(distance for distance, _ in error.gaps.values()) == pytest.approx(2.5, abs=1e-3)
    distance, angle = linkage.gaps(error.places)
    assert distance == pytest.approx(max(d for d, _ in error.gaps.values()), rel=1e-6)
    assert angle < 1e-6
    for name in "ABCD":
        assert f"joint '{name}' by {error.gaps[name][0]:.3g} m" in str(error)
    for name, (x, R) in model.start_places().items():
        assert np.array_equal(x, before[name][0])
        assert np.array_equal(R, before[name][1])


def test_bodies_that_are_kept_may_keep_joints_open():
    model = four_bar().perturbed(np.random.default_rng(1), gap=0.3, angle=0.6).model()
    with pytest.raises(ps.AssemblyError, match="with 'crank' kept where they are"):
        model.assemble(keep=["crank"])


def test_an_open_start_is_refused_until_it_is_assembled():
    model = four_bar().perturbed(np.random.default_rng(1)).model()
    for ask in (model.check, model.compile, model.start_velocities):
        with pytest.raises(ps.InconsistentStartError, match=r"open at the start: .*assemble"):
            ask()
    model.assemble()
    model.check()
    ps.simulate(model, h=1e-3, t_end=0.01)


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"keep": "crnk"}, "did you mean 'crank'"),
        ({"near": {"E": 1.0}}, "no joint 'E'"),
        ({"near": {"A": "x"}}, "near 'A'"),
    ],
)
def test_unknown_names_are_refused(how, message):
    with pytest.raises(ps.InputError, match=message):
        four_bar().model().assemble(**how)


# -- joints of markers --------------------------------------------------------------------------


def test_a_joint_of_markers_is_the_joint_of_bodies_at_that_place():
    shape, axis = ps.Box(mass=1.0, size=(0.1, 0.2, 1.0)), (1.0, 2.0, 2.0)
    plain, marked = (ps.Model(gravity=(0, 0, -9.81)) for _ in range(2))
    body = plain.add_body("bar", shape, position=(0.3, 0, 0.5))
    plain.add_joint("hinge", ps.Revolute(plain.ground, body, point=(0, 0, 0), axis=axis))
    body = marked.add_body("bar", shape, position=(0.3, 0, 0.5))
    z = np.array(axis) / 3
    x = np.cross(z, (1, 0, 0)) / np.linalg.norm(np.cross(z, (1, 0, 0)))
    R = np.column_stack([x, np.cross(z, x), z])
    ends = [
        marked.add_marker(name, on, position=(0, 0, 0), rotation=R)
        for name, on in (("base", marked.ground), ("foot", body))
    ]
    marked.add_joint("hinge", ps.Revolute(*ends))
    one, other = (ps.simulate(model, h=0.01, t_end=1.0) for model in (plain, marked))
    assert np.allclose(one.position("bar"), other.position("bar"), atol=1e-9)
    assert np.allclose(one.reaction("hinge").force, other.reaction("hinge").force, atol=1e-6)


def test_a_marker_and_a_body_are_no_joint():
    model = four_bar().model()
    with pytest.raises(ps.InputError, match="are a marker and a body"):
        ps.Revolute(model.ground, model.markers["A.b"], (0, 0, 0), (0, 0, 1))
    with pytest.raises(ps.InputError, match="point is missing"):
        ps.Revolute(model.ground, model.bodies["crank"])


# -- files --------------------------------------------------------------------------------------


def test_an_assembled_model_is_written_as_it_starts():
    model = four_bar().perturbed(np.random.default_rng(1)).model()
    model.assemble()
    again = ps.Model.from_yaml_text(model.to_yaml())
    for name, (x, R) in model.start_places().items():
        y, Q = again.start_places()[name]
        assert np.array_equal(x, y)
        assert np.array_equal(R, Q)
    assert again.to_yaml() == model.to_yaml()
    one, other = (ps.simulate(each, h=1e-3, t_end=0.02) for each in (model, again))
    assert np.array_equal(one.position("rocker"), other.position("rocker"))


FILE = """
poinsot: 1
bodies:
  arm: {box: {mass: 1, size: [1, 0.1, 0.1]}, position: [0.7, 0.2, 0]}
  tip: {box: {mass: 1, size: [1, 0.1, 0.1]}, position: [0.7, 0.9, 0.1]}
markers:
  base: {body: ground, position: [0, 0, 0]}
  foot: {body: arm, position: [-0.5, 0, 0], axes: body}
  elbow: {body: arm, position: [0.5, 0, 0], axes: body}
  heel: {body: tip, position: [-0.5, 0, 0], axes: body}
joints:
  shoulder: {revolute: {markers: [base, foot]}}
  elbow joint: {revolute: {markers: [elbow, heel]}}
"""


def test_files_ask_for_assembly():
    with pytest.raises(ps.ModelFileError, match=r"open at the start.*in a file: 'assemble: true'"):
        ps.Model.from_yaml_text(FILE)
    model = ps.Model.from_yaml_text(f"{FILE}assemble: true\n")
    assert np.allclose(model.check().freedoms, 2)
    x, R = model.start_places()["arm"]
    assert np.allclose(x + R @ (-0.5, 0, 0), 0, atol=1e-12)
    hinted = f"{FILE}assemble: {{near: {{elbow joint: 1.0, shoulder: 0.5}}}}\n"
    model = ps.Model.from_yaml_text(hinted)
    assert model.start_coordinates() == pytest.approx({"shoulder": 0.5, "elbow joint": 1.0})
    assert model.assembled.reached


def test_files_say_what_is_wrong_with_joints_of_markers():
    with pytest.raises(ps.ModelFileError, match="no marker 'bse'"):
        ps.Model.from_yaml_text(FILE.replace("[base, foot]", "[bse, foot]"))
    with pytest.raises(ps.ModelFileError, match="the key 'axis' is missing"):
        ps.Model.from_yaml_text(
            FILE.replace("markers: [base, foot]", "bodies: [ground, arm], point: [0, 0, 0]")
        )


def test_an_assembled_model_is_a_part_of_another_one_as_it_starts():
    rough = four_bar().perturbed(np.random.default_rng(1))
    model, shift, R = rough.model(), np.array([1.0, 2.0, 3.0]), turn((1, 2, 3), 0.7)
    model.assemble()
    outer = ps.Model()
    outer.add_system("linkage", model, position=shift, rotation=R)
    for name, (x, Q) in model.start_places().items():
        y, P = outer.start_places()[f"linkage.{name}"]
        assert np.allclose(y, shift + R @ x, atol=1e-14)
        assert np.allclose(P, R @ Q, atol=1e-14)
    assert outer.check().freedoms == 1


def test_what_is_rigid_comes_to_what_is_elastic():
    model = ps.Model()
    section = ps.CircularSection(radius=0.02)
    material = {"section": section, "density": 2700, "youngs_modulus": 7e10}
    beam = model.add_body("beam", ps.Beam(length=1, **material), position=(0.5, 0, 0))
    model.add_joint("clamp", ps.Weld(model.ground, beam.start))
    shape = ps.Box(mass=1.0, size=(0.1, 0.1, 1.0))
    arm = model.add_body("arm", shape, position=(1.2, 0.3, -0.3))
    head = model.add_marker("head", arm, position=(0, 0, 0.5), axes="body")
    model.add_joint("hook", ps.Spherical(model.markers["beam.end"], head))
    assert list(model.assemble().moves) == ["arm"]
    x, R = model.start_places()["arm"]
    assert np.allclose(x + R @ (0, 0, 0.5), (1, 0, 0), atol=1e-12)
    assert ps.simulate(model, h=1e-3, t_end=0.01).constraint_error.max() < 1e-12
