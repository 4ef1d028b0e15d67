"""What a picture is drawn from: meshes, solids on bodies, frames, and where to look."""

import numpy as np
import pytest
from PIL import Image
from runs import run

import poinsot as ps
from poinsot import viz
from poinsot.viz.meshes import mesh
from poinsot.viz.solids import along
from poinsot.viz.stage import Frames, Stage, round_number

SHAPES = ("arrow", "ball", "box", "cone", "cylinder", "spring", "tube 0.600")
VOLUMES = {
    "ball": np.pi / 6,
    "box": 1.0,
    "cone": np.pi / 12,
    "cylinder": np.pi / 4,
    "tube 0.600": np.pi / 4 * (1 - 0.6**2),
}


def outward(own):
    """Triangles and their area vectors, which point to where the normals do."""
    corners = own.vertices[own.triangles]
    area = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    assert np.all(np.sum(area * own.normals[own.triangles].mean(axis=1), axis=1) > 0)
    return corners, area


@pytest.mark.parametrize("shape", SHAPES)
def test_meshes_have_unit_size_and_unit_normals(shape):
    own = mesh(shape)
    np.testing.assert_allclose(own.vertices.min(axis=0)[2], -0.5, atol=0.02)
    np.testing.assert_allclose(own.vertices.max(axis=0)[2], 0.5, atol=0.02)
    assert np.abs(own.vertices).max() <= 0.52
    np.testing.assert_allclose(np.linalg.norm(own.normals, axis=1), 1, atol=1e-12)
    assert own.triangles.max() < len(own.vertices) < 2**16
    assert np.all(own.edges < len(own.vertices))
    ends = {frozenset(map(tuple, pair)) for pair in np.round(own.vertices[own.edges], 9)}
    assert len(ends) == len(own.edges)


@pytest.mark.parametrize("shape", VOLUMES)
def test_meshes_are_closed_and_hold_their_volume(shape):
    corners, area = outward(mesh(shape))
    np.testing.assert_allclose(area.sum(axis=0), 0, atol=1e-12)
    volume = np.sum(corners.mean(axis=1) * area) / 3
    assert volume == pytest.approx(VOLUMES[shape], rel=0.02)


def test_unknown_meshes_are_refused():
    with pytest.raises(ps.InputError, match="no mesh 'torus'"):
        mesh("torus")


@pytest.mark.parametrize("n", [(0, 0, 1), (0, 0, -1), (1, 0, 0), (1, 2, -3)])
def test_bars_lie_along_their_direction(n):
    R = along(n)
    np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-14)
    assert np.linalg.det(R) == pytest.approx(1)
    np.testing.assert_allclose(R[:, 2], np.array(n) / np.linalg.norm(n))


def test_every_shape_is_drawn_where_its_mass_is():
    shapes = {
        "box": ps.Box(mass=1, size=(1, 0.2, 0.3)),
        "ball": ps.Sphere(mass=1, radius=0.3),
        "egg": ps.Ellipsoid(mass=1, semi_axes=(0.1, 0.2, 0.3)),
        "disc": ps.Cylinder(mass=1, radius=0.5, length=0.1),
        "pipe": ps.HollowCylinder(mass=1, inner_radius=0.2, outer_radius=0.3, length=1),
        "hat": ps.Cone(mass=1, radius=0.2, height=0.8),
        "stick": ps.ThinRod(mass=1, length=1),
        "dot": ps.PointMass(mass=1),
    }
    model = ps.Model()
    for k, (name, shape) in enumerate(shapes.items()):
        model.add_body(name, shape, position=(2 * k, 0, 0))
    stage = Stage.of(ps.simulate(model, h=0.01, t_end=0.01, engine="reference"))
    for solid in stage.solids:
        own = mesh(solid.shape)
        corners, area = outward(own)
        volume = np.sum(corners.mean(axis=1) * area) / 3
        # The centre of what a surface encloses, by Gauss: x^2/2 dA, summed up over triangles.
        square = ((corners**2).sum(axis=1) + corners.sum(axis=1) ** 2) / 12
        centre = np.sum(square / 2 * area, axis=0) / volume
        at = solid.position + solid.rotation @ (solid.scale * centre)
        np.testing.assert_allclose(at, 0, atol=1e-12, err_msg=solid.body)


def test_frames_are_those_of_the_result(slider_crank):
    frames = Frames.of(slider_crank, ["rod"], 11)
    assert (frames.chosen[0], frames.chosen[-1]) == (0, slider_crank.time.size - 1)
    np.testing.assert_array_equal(
        frames.position[:, 0], slider_crank.position("rod")[frames.chosen]
    )
    (pin,) = (p for p in slider_crank.observation.scene.pins if p.joint == "B")
    marker = slider_crank.marker("B on the crank").position[frames.chosen]
    np.testing.assert_allclose(frames.path(pin.b), marker, atol=1e-13)


def test_everything_stays_inside_the_bounds(slider_crank):
    stage = Stage.of(slider_crank)
    for path in (stage.frames.path(end) for pin in stage.pins for end in (pin.a, pin.b)):
        assert np.all(path >= stage.low - 1e-12)
        assert np.all(path <= stage.high + 1e-12)


def test_forces_are_those_of_the_joints(slider_crank):
    stage = Stage.of(slider_crank)
    k = [pin.joint for pin in stage.pins].index("B")
    force = slider_crank.joint("B").force
    np.testing.assert_allclose(stage.forces[1:-1, k], (force[1:] + force[:-1]) / 2, atol=1e-12)
    longest = np.linalg.norm(stage.forces, axis=-1).max() * stage.force_scale
    assert longest == pytest.approx(0.4 * stage.grain)


@pytest.mark.parametrize(
    ("kind", "from_above"), [("squeezer", True), ("pendulum", True), ("slider-crank", False)]
)
def test_plane_mechanisms_are_seen_from_the_front(results, kind, from_above):
    assert (Stage.of(results[kind]).view[1] > 1) == from_above


def test_what_flies_away_is_followed_and_what_is_held_is_not(results):
    assert Stage.of(run("closed-loop", t_end=5.0)).travels
    assert not Stage.of(results["slider-crank"]).travels
    assert not Stage.of(results["pendulum"]).travels


@pytest.mark.parametrize(("x", "rounded"), [(1, 1), (0.0049, 0.002), (99, 50), (5e-4, 5e-4)])
def test_round_numbers(x, rounded):
    assert round_number(x) == rounded


def test_a_short_run_is_played_slowly(results):
    assert Stage.of(results["squeezer"]).pace == pytest.approx(5e-4)
    assert Stage.of(run("free-body", h=0.5, t_end=2.0)).pace == 1.0
    assert Stage.of(results["one step"]).pace > 0


@pytest.mark.parametrize("kind", ["slider-crank", "squeezer", "free body", "one step", "evil"])
def test_a_mechanism_is_drawn_on_paper(results, kind):
    figure = viz.picture(results[kind], time=0.1, names=True)
    figure.draw_without_rendering()
    assert figure.axes[0].collections


def test_names_of_joints_are_beside_them(slider_crank):
    (ax,) = viz.picture(slider_crank, names=True).axes
    assert sorted(text.get_text() for text in ax.texts) == ["A", "B", "C, D"]


def test_a_film_shows_the_time_until_its_end(slider_crank, tmp_path):
    path = tmp_path / "film.gif"
    viz.animate(slider_crank, path, end=0.4, frames=4)
    with Image.open(path) as film:
        assert film.n_frames == 4
    with pytest.raises(ps.InputError, match="after end"):
        viz.animate(slider_crank, path, end=-1)
