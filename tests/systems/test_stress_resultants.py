"""Stress resultants of beams and rods: closed forms of cantilevers and of what turns, and files."""

import numpy as np
import pytest

import poinsot as ps

LENGTH, SECTION = 2.0, ps.RectangularSection(width=0.04, height=0.06)
MATERIAL = {"youngs_modulus": 7e10, "shear_modulus": 2.6e10, "density": 2700.0}


def beam_model(**options):
    """A cantilever along x."""
    model = ps.Model()
    beam = ps.Beam(length=LENGTH, section=SECTION, elements=4, **{**MATERIAL, **options})
    body = model.add_body("beam", beam, position=(LENGTH / 2, 0, 0))
    model.add_joint("clamp", ps.Weld(model.ground, body.start))
    return model, body


def rod_model(elements=8, **options):
    """The same as a rod, whose axes 1 and 2 are y and z as well."""
    model = ps.Model()
    rod = ps.ElasticRod(
        [(0, 0, 0), (LENGTH, 0, 0)], SECTION, elements, normal=(0, 1, 0), **{**MATERIAL, **options}
    )
    body = model.add_body("beam", rod)
    model.add_joint("clamp", ps.Weld(model.ground, body.start))
    return model, body


KINDS = {"beam": beam_model, "rod": rod_model}
DAMPED = {"beam": {"damping": 0.02}, "rod": {"damping_time": 0.02}}


def loaded(kind, force, torque=(0, 0, 0)):
    """The stress when loads at the end have grown slowly and all is still."""
    model, body = KINDS[kind](**DAMPED[kind])
    rising, none = (0.0, 0.5), (0.0, 0.0, 0.0)
    pull, turn = (ps.Table(rising, (none, load)) for load in (force, torque))
    model.add_port("force", ps.ForcePort(body.end, point=(LENGTH, 0, 0), value=pull))
    model.add_port("torque", ps.TorquePort(body.end, value=turn))
    return ps.simulate(model, h=2e-3, t_end=1.5, save_every=750).stress("beam")


@pytest.mark.parametrize("kind", KINDS)
def test_a_cantilever_carries_what_is_beyond_a_section(kind):
    """Moments P (L - x), constant shear, tension and torque; loads so small that nothing turns."""
    N, P, Q, T = 0.03, 0.02, -0.03, 0.05
    stress = loaded(kind, (N, P, Q), (T, 0, 0))
    x, last = stress.place, -1
    near = {"rtol": 2e-5, "atol": 2e-6}
    np.testing.assert_allclose(stress.axial[last], N, **near)
    np.testing.assert_allclose(stress.shear[last], np.tile([P, Q], (x.size, 1)), **near)
    np.testing.assert_allclose(stress.torsion[last], T, **near)
    bending = np.column_stack([-Q * (LENGTH - x), P * (LENGTH - x)])
    np.testing.assert_allclose(stress.bending[last], bending, **near)


def test_sections_of_beams_are_ends_of_elements_and_those_of_rods_their_middles():
    beam, rod = (loaded(kind, (0, 0, 0)) for kind in KINDS)
    np.testing.assert_allclose(beam.place, [0, 0.5, 0.5, 1, 1, 1.5, 1.5, 2])
    np.testing.assert_allclose(rod.place, (np.arange(8) + 0.5) / 8 * LENGTH)


@pytest.mark.parametrize(("kind", "stiffening"), [("beam", False), ("beam", True), ("rod", False)])
def test_a_turning_beam_is_pulled_by_what_is_beyond_a_section(kind, stiffening):
    """n = rho A omega^2 (L^2 - x^2) / 2, of a linear element the mean over its length.

    A rod carries the lumped nodes beyond its element, which is l^2 / 4 instead of -l^2 / 12.
    """
    speed, elements = 5.0, 8
    model = ps.Model()
    start = {"velocity": (0, speed * LENGTH / 2, 0), "angular_velocity": (0, 0, speed)}
    if kind == "beam":
        shape = ps.Beam(
            length=LENGTH,
            section=SECTION,
            elements=elements,
            stiffening=stiffening,
            damping=1e-3,
            **MATERIAL,
        )
        body = model.add_body("beam", shape, position=(LENGTH / 2, 0, 0), **start)
    else:
        ends = [(0, 0, 0), (LENGTH, 0, 0)]
        shape = ps.ElasticRod(ends, SECTION, elements, damping_time=1e-3, **MATERIAL)
        body = model.add_body("beam", shape, **(start | {"velocity": (0, 0, 0)}))
    hinge = ps.Revolute(model.ground, body.start, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_joint("hinge", hinge)
    model.add_port("drive", ps.Drive("hinge", rate=speed))
    result = ps.simulate(model, h=2e-3, t_end=0.5)
    stress = result.stress("beam")
    l = LENGTH / elements
    middles = (np.arange(elements) + 0.5) * l
    mass = MATERIAL["density"] * SECTION.constants[0]
    more = {"beam": -(l**2) / 12, "rod": l**2 / 4}[kind]
    expected = mass * speed**2 / 2 * (LENGTH**2 - middles**2 + more)
    found = stress.axial[-1].reshape(elements, -1).mean(axis=1)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_files_and_tables_hold_stress(kind, tmp_path):
    model, body = KINDS[kind]()
    model.add_port("force", ps.ForcePort(body.end, point=(LENGTH, 0, 0), value=(1.0, 20.0, 3.0)))
    model.add_body("ball", ps.Sphere(mass=1, radius=0.1), position=(9, 9, 9))
    result = ps.simulate(model, h=1e-3, t_end=0.01)
    streamed = ps.simulate(model, h=1e-3, t_end=0.01, output=tmp_path / "streamed.nc")
    result.save(tmp_path / "run.nc")
    stress = result.stress("beam")
    assert abs(stress.bending).max() > 0
    for other in (streamed, ps.load(tmp_path / "run.nc")):
        np.testing.assert_array_equal(other.stress("beam").values, stress.values)
        np.testing.assert_array_equal(other.stress("beam").place, stress.place)
    dataset = result.to_xarray()
    bending = dataset.stress.sel(section="beam", resultant="bending_2")
    np.testing.assert_array_equal(bending, stress.bending[:, :, 1])
    np.testing.assert_array_equal(bending.section_place, stress.place)
    column = result.to_pandas()["beam.axial[1] [N]"]
    np.testing.assert_array_equal(column, stress.axial[:, 1])


def test_the_file_opens_as_the_dataset(tmp_path):
    import xarray

    model, _ = beam_model()
    result = ps.simulate(model, h=1e-3, t_end=0.005)
    result.save(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc") as dataset:
        xarray.testing.assert_identical(dataset.stress, result.to_xarray().stress)


def test_rigid_bodies_have_no_stress():
    model = ps.Model()
    model.add_body("box", ps.Box(mass=1, size=(1, 1, 1)))
    result = ps.simulate(model, h=0.01, t_end=0.01)
    with pytest.raises(ps.InputError, match="no beam or rod 'box'"):
        result.stress("box")


def test_resultants_of_a_rod_are_those_of_its_elements():
    model, rod = rod_model()
    model.add_port("force", ps.ForcePort(rod.end, point=(LENGTH, 0, 0), value=(1.0, 20.0, 3.0)))
    result = ps.simulate(model, h=1e-3, t_end=0.02)
    stress, own = result.stress("beam"), rod.resultant(result)
    np.testing.assert_allclose(stress.shear, own[:, :, :2], atol=1e-6)
    np.testing.assert_allclose(stress.axial, own[:, :, 2], atol=1e-6)
    np.testing.assert_allclose(stress.bending, own[:, :, 3:5], atol=1e-9)
    np.testing.assert_allclose(stress.torsion, own[:, :, 5], atol=1e-9)
