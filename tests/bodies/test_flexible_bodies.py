"""Flexible bodies as matrices: frequencies, frames, deformed inertia, and what is refused."""

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest
import scipy.sparse as sp
import skfem

import poinsot as ps
from poinsot.bodies.shapes import FROM_DENSITY

#: Roots of cos(b) cosh(b) = 1: a beam that is free at both ends.
FREE_FREE = (4.73004074486270403, 7.85320462409583756)
MATERIAL = {"density": 2.0, "youngs_modulus": 10.0, "poissons_ratio": 0.0}
LENGTH, WIDTH, HEIGHT = 1.0, 0.05, 0.02


def mesh(cells=8):
    """Return a slender beam of hexahedra along x, away from the origin, with named ends."""
    x = np.linspace(0.3, 0.3 + LENGTH, cells + 1)
    grid = skfem.MeshHex.init_tensor(x, np.array([0, WIDTH]), np.array([0, HEIGHT]))
    return grid.with_boundaries(
        {"left": lambda x: x[0] == 0.3, "right": lambda x: x[0] == 0.3 + LENGTH}
    )


def body(**options):
    """Return the beam, reduced."""
    defaults = {"interfaces": ["left", "right"], "modes": 6}
    return ps.FlexibleBody.from_mesh(mesh(), **MATERIAL | defaults | options)


def full(cells=4):
    """Return mass, stiffness and nodes of the beam with three unknowns a node."""
    elastic = ps.flexible.ElasticMesh(mesh=mesh(cells), degree=1, **MATERIAL)
    order = elastic.basis.nodal_dofs.T.ravel()
    return elastic.M[order][:, order], elastic.K[order][:, order], elastic.mesh.p.T


FRAMES = ("centre of mass", "left", "right")


@pytest.mark.parametrize("frame", FRAMES)
def test_a_free_beam_vibrates_as_in_the_closed_form_in_every_frame(frame):
    bending = np.array([HEIGHT, WIDTH]) / sqrt(12) * sqrt(10.0 / 2.0)
    exact = np.sort(np.outer(bending, np.square(FREE_FREE)).ravel())[:2]
    assert body(frame=frame).frequencies[:2] == pytest.approx(exact, rel=1e-2)


def test_natural_frequencies_do_not_depend_on_the_frame():
    first, *others = (body(frame=frame).frequencies for frame in FRAMES)
    for other in others:
        assert other == pytest.approx(first, rel=1e-6)


def test_mass_and_inertia_are_those_of_the_box():
    found = body()
    m = 2.0 * LENGTH * WIDTH * HEIGHT
    inertia = m / 12 * np.array([WIDTH**2 + HEIGHT**2, LENGTH**2 + HEIGHT**2, LENGTH**2 + WIDTH**2])
    assert found.mass == pytest.approx(m)
    assert found.first_moment == pytest.approx(0, abs=1e-15)
    assert found.inertia == pytest.approx(np.diag(inertia), abs=1e-12)
    at_end = body(frame="left")
    assert at_end.first_moment == pytest.approx([m * LENGTH / 2, 0, 0], abs=1e-15)
    assert at_end.inertia[2, 2] == pytest.approx(inertia[2] + m * LENGTH**2 / 4)


def test_a_frame_at_the_centre_of_mass_follows_the_mean_motion():
    found = body()
    assert found.M[:6, 6:] == pytest.approx(0, abs=1e-12)
    assert found.M[6:, 6:] == pytest.approx(np.eye(found.unknowns), abs=1e-9)


def test_unknowns_of_a_frame_at_an_interface_are_motions_of_the_others():
    found = body(frame="left")
    assert found.interfaces["left"].modes == pytest.approx(0, abs=1e-15)
    assert found.interfaces["left"].position == pytest.approx(0)
    expected = np.eye(6, found.unknowns)
    assert found.interfaces["right"].modes == pytest.approx(expected, abs=1e-9)
    assert found.interfaces["right"].position == pytest.approx([LENGTH, 0, 0])


def test_a_force_at_the_end_bends_the_beam_as_in_statics():
    found = body(frame="left")
    tip = found.interfaces["right"].modes
    deflection = tip @ np.linalg.solve(found.K, tip.T @ [0, 0, 1e-6, 0, 0, 0])
    EI = 10.0 * WIDTH * HEIGHT**3 / 12
    assert deflection[2] == pytest.approx(1e-6 * LENGTH**3 / (3 * EI), rel=1e-2)
    assert deflection[4] == pytest.approx(-1e-6 * LENGTH**2 / (2 * EI), rel=1e-2)


@pytest.mark.parametrize("frame", FRAMES)
def test_integrals_give_the_mass_matrix_of_the_undeformed_body(frame):
    found = body(frame=frame)
    assert found.integrals.mass_matrix() == pytest.approx(found.M, abs=1e-12)


def test_inertia_of_a_deformed_body_is_that_of_its_points():
    M, K, nodes = full(2)
    masses = M[0::3, 0::3].sum(axis=1)
    left, right = (np.flatnonzero(nodes[:, 0] == x) for x in (0.3, 1.3))
    middle = np.setdiff1d(np.arange(len(nodes)), np.append(left, right))
    found = ps.FlexibleBody.from_matrices(
        sp.diags_array(np.repeat(masses, 3)).tocsr(),
        K,
        nodes=nodes,
        interfaces={"left": left, "right": right},
        modes=0,
        frame="left",
    )
    # The right end moves, and takes the nodes in the middle along as the stiffness wants it.
    move = np.array([0.1, 0.2, -0.3])
    inner, driven = ((3 * n[:, None] + np.arange(3)).ravel() for n in (middle, right))
    pull = -K[inner][:, driven] @ np.tile(move, len(right))
    places = nodes - np.array([0.3, WIDTH / 2, HEIGHT / 2])
    places[right] += move
    places[middle] += np.linalg.solve(K[inner][:, inner].toarray(), pull).reshape(-1, 3)
    points = zip(masses, places, strict=True)
    exact = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in points)
    assert found.integrals.J(np.append(move, np.zeros(3))) == pytest.approx(exact, abs=1e-12)


def test_matrices_of_a_finite_element_program_make_the_body_of_the_mesh():
    M, K, nodes = full()
    ends = {name: np.flatnonzero(nodes[:, 0] == x) for name, x in (("left", 0.3), ("right", 1.3))}
    given = ps.FlexibleBody.from_matrices(M, K.toarray(), nodes=nodes, interfaces=ends, modes=5)
    meshed = ps.FlexibleBody.from_mesh(
        mesh(4), **MATERIAL, interfaces=["left", "right"], modes=5, degree=1
    )
    assert given.frequencies == pytest.approx(meshed.frequencies, rel=1e-9)
    assert given.integrals is not None


@pytest.mark.parametrize("name", ["beam.npz", "beam.nc"])
def test_a_file_gives_the_same_body_back(name, tmp_path):
    found = replace(body(frame="right", modes=2), mass=FROM_DENSITY, damping=np.eye(8))
    found.save(tmp_path / name)
    again = ps.FlexibleBody.load(tmp_path / name)
    assert np.array_equal(again.damping, found.damping)
    assert np.array_equal(again.M, found.M)
    assert np.array_equal(again.K, found.K)
    eta = np.random.default_rng(1).normal(size=found.unknowns)
    assert again.integrals.mass_matrix(eta) == pytest.approx(found.integrals.mass_matrix(eta))
    for name, interface in found.interfaces.items():
        assert np.array_equal(again.interfaces[name].modes, interface.modes)


# -- what is refused ---------------------------------------------------------------------------

RIGID = np.diag([2.0, 2, 2, 1, 1, 1, 1])
ONE = {"tip": ((1.0, 0, 0), np.ones((6, 1)))}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"K": [[-1.0]]}, "K is not positive definite"),
        ({"K": [[0.0]]}, "K is not positive definite"),
        ({"K": [[1.0, 2.0]]}, "K has shape"),
        ({"K": [[np.nan]]}, "NaN"),
        ({"M": np.eye(6)}, r"M has shape \(6, 6\), expected \(7, 7\)"),
        ({"M": RIGID + np.eye(7, k=6)}, "M is not symmetric"),
        ({"M": np.diag([2.0, 2, 3, 1, 1, 1, 1])}, "mass times the identity"),
        ({"M": RIGID + 0.1 * (np.eye(7, k=3) + np.eye(7, k=-3))}, r"identity|skew"),
        ({"M": np.diag([2.0, 2, 2, 1, 1, 1, 0])}, "M is not positive definite"),
        ({"damping": [[-1.0]]}, "create energy"),
        ({"interfaces": {}}, "at least one"),
        ({"interfaces": {"tip": ((1, 0, 0), np.ones((3, 1)))}}, r"\(6, 1\)"),
    ],
)
def test_matrices_of_no_body_are_refused(changes, message):
    with pytest.raises(ps.InputError, match=message):
        ps.FlexibleBody(**{"M": RIGID, "K": [[3.0]], "interfaces": ONE} | changes)


def test_a_rigid_motion_in_the_shapes_is_refused():
    # The shape moves along x as the frame does: the mass matrix is singular.
    M = RIGID.copy()
    M[0, 6] = M[6, 0] = 2.0
    M[6, 6] = 2.0
    with pytest.raises(ps.InputError, match="contains a rigid motion"):
        ps.FlexibleBody(M=M, K=[[1.0]], interfaces=ONE)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"frame": "centre"}, "did you mean 'centre of mass'"),
        ({"frame": "top"}, "'left', 'right'"),
        ({"interfaces": ["lft"]}, "did you mean 'left'"),
        ({"interfaces": []}, "give at least one"),
        ({"modes": -1}, "modes is -1"),
        ({"interfaces": ["left"], "modes": 0, "frame": "left"}, "no elastic coordinates are left"),
    ],
)
def test_what_cannot_be_reduced_is_refused(options, message):
    with pytest.raises(ps.InputError, match=message):
        body(**options)


def test_interfaces_must_be_able_to_turn_and_share_no_node():
    M, K, nodes = full()
    for interfaces, message in (
        ({"a": [0]}, "lie on a line"),
        ({"a": [0, 1, 2, 3], "b": [3, 4, 5, 6]}, "'a' and 'b' share a node"),
        ({"a": [0, 1, 999]}, "numbers from 0 to"),
    ):
        with pytest.raises(ps.InputError, match=message):
            ps.FlexibleBody.from_matrices(M, K, nodes=nodes, interfaces=interfaces)


def test_a_part_that_no_interface_holds_is_refused():
    M, K, nodes = full()
    two = [sp.block_diag([A, A]).tocsr() for A in (M, K)]
    apart = np.vstack([nodes, nodes + np.array([0, 1, 0])])
    with pytest.raises(ps.InputError, match="is not connected to any interface"):
        ps.FlexibleBody.from_matrices(*two, nodes=apart, interfaces={"a": [0, 1, 2, 3]}, modes=3)


def test_the_stiffness_of_a_held_body_is_refused():
    M, K, nodes = full()
    held = (K + sp.diags_array(np.r_[np.full(12, K.max()), np.zeros(K.shape[0] - 12)])).tocsr()
    with pytest.raises(ps.InputError, match="give the stiffness matrix of the unsupported body"):
        ps.FlexibleBody.from_matrices(M, held, nodes=nodes, interfaces={"a": [0, 1, 2, 3]})


@pytest.mark.parametrize(("ratio", "root"), [(0, 1.87510407), (1, 1.24791741), (5, 0.87002146)])
def test_a_body_from_a_file_carries_a_mass_at_its_tip(ratio, root, tmp_path):
    """omega = root^2 sqrt(EI / (rho A L^4)) of a cantilever with a tip mass."""
    body(modes=4, frame="left").save(tmp_path / "arm.nc")
    model = ps.Model()
    arm = model.add_body("arm", ps.FlexibleBody.load(tmp_path / "arm.nc"))
    model.add_joint("clamp", ps.Weld(model.ground, arm.start))
    if ratio:
        ball = ps.Sphere(mass=ratio * arm.shape.mass, radius=1e-4)
        model.add_body("ball", ball, position=arm.end.position)
        model.add_joint("tip", ps.Weld(arm.end, model.body("ball")))
    exact = root**2 * sqrt(MATERIAL["youngs_modulus"] / MATERIAL["density"] / 12) * HEIGHT
    assert ps.analysis.modes(model).frequencies[0] == pytest.approx(exact, rel=3e-3)


def test_a_drive_turns_a_flexible_body_as_it_is_told():
    model = ps.Model(gravity=(0, 0, -9.81))
    arm = model.add_body("arm", body(modes=2, frame="left"))
    point = arm.start.position
    model.add_joint("hinge", ps.Revolute(model.ground, arm.start, point=point, axis=(0, 0, 1)))
    model.add_port("motor", ps.Drive("hinge", coordinate=lambda t: 0.5 * np.sin(3 * t)))
    result = ps.simulate(model, h=1e-2, t_end=0.5)
    angle = result.joint("hinge").coordinates["angle"]
    np.testing.assert_allclose(angle, 0.5 * np.sin(3 * result.time), atol=1e-13)
    assert result.stats.balance_error_max < 1e-13


def test_a_plane_mesh_and_a_foreign_file_are_refused(tmp_path):
    with pytest.raises(ps.InputError, match="tetrahedra or hexahedra"):
        ps.FlexibleBody.from_mesh(skfem.MeshTri(), **MATERIAL, interfaces=[])
    np.savez(tmp_path / "other.npz", M=RIGID)
    with pytest.raises(ps.InputError, match="no array 'K'"):
        ps.FlexibleBody.load(tmp_path / "other.npz")
    (tmp_path / "text.npz").write_text("no")
    (tmp_path / "text.nc").write_text("no")
    for name, kind in (("text.npz", "an .npz"), ("text.nc", "a netCDF")):
        with pytest.raises(ps.InputError, match=f"is not {kind} file"):
            ps.FlexibleBody.load(tmp_path / name)
        with pytest.raises(ps.InputError, match="there is no file"):
            ps.FlexibleBody.load(tmp_path / f"missing {name}")


def test_mass_matrices_that_differ_between_directions_leave_inertia_as_it_is():
    M, K, nodes = full()
    lumped = M.toarray()
    lumped[2::3, 2::3] = np.diag(lumped[2::3, 2::3].sum(axis=1))
    found = ps.FlexibleBody.from_matrices(
        lumped, K, nodes=nodes, interfaces={"a": [0, 1, 2, 3]}, modes=2
    )
    assert found.integrals is None
