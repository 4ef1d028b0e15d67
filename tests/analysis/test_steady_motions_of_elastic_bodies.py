"""Elastic bodies in steady motion, against rotating beams of the literature and closed forms."""

import numpy as np
import pytest

import poinsot as ps
from poinsot import analysis

AREA, MOMENT, DENSITY, E, LENGTH = 1e-4, 1e-9, 2000.0, 1e11, 2.0
UNIT = np.sqrt(E * MOMENT / (DENSITY * AREA * LENGTH**4))
#: Flapping of a clamped beam that turns, over its speed, both in UNIT: Wright, Smith, Thresher and
#: Wang, J. Appl. Mech. 49 (1982), table 1.
FLAPPING = {2.0: 4.1373, 6.0: 7.3604}


def rotor(elements=4, **options):
    """A blade along x on a hub that turns about z."""
    model = ps.Model(name="rotor")
    hub = model.add_body("hub", ps.Cylinder(mass=5.0, radius=0.1, length=0.1))
    section = ps.Section(area=AREA, I1=MOMENT, I2=MOMENT, J=2 * MOMENT)
    shape = ps.Beam(
        length=LENGTH,
        section=section,
        density=DENSITY,
        youngs_modulus=E,
        elements=elements,
        rotary_inertia=False,
        **{"stiffening": True} | options,
    )
    blade = model.add_body("blade", shape, position=(LENGTH / 2, 0, 0))
    bearing = ps.Revolute(model.ground, hub, point=(0, 0, 0), axis=(0, 0, 1))
    model.add_joint("bearing", bearing)
    model.add_joint("root", ps.Weld(hub, blade.start))
    model.add_port("drive", ps.JointPort("bearing"))
    return model


@pytest.fixture(scope="module", params=FLAPPING)
def turning(request):
    return request.param, analysis.steady_motion(rotor(), rate=request.param * UNIT)


def test_centrifugal_forces_stretch_the_blade(turning):
    speed, motion = turning
    stretch = motion.position("blade.end")[0] - LENGTH
    assert stretch == pytest.approx(DENSITY * (speed * UNIT) ** 2 * LENGTH**3 / (3 * E), rel=1e-3)


def test_a_turning_blade_flaps_faster_by_the_numbers_of_wright_and_others(turning):
    speed, motion = turning
    linear = analysis.linearise(motion)
    assert linear.about.steady
    assert isinstance(linear, analysis.LinearPHSystem)
    assert linear.defects(linear.start).holds(1e-8)
    flap = analysis.modes(linear).frequencies[1] / UNIT
    assert flap == pytest.approx(FLAPPING[speed], rel=5e-3)


def test_runs_from_a_steady_motion_keep_deformations(turning):
    _, motion = turning
    run = ps.simulate(motion.system, x0=motion.x, angles=motion.angles, h=2e-3, t_end=0.1)
    assert np.ptp(run["blade.u"], axis=0).max() < 1e-11


def test_an_elastic_body_does_not_spin_by_itself():
    with pytest.raises(ps.InputError, match="body 'blade' is elastic and has no axis of symmetry"):
        analysis.steady_motion(rotor(1), spins={"blade": 3.0})


def test_parts_of_kinetic_energies_are_those_of_a_rigid_body_if_the_beam_is_stiff():
    """A pendulum of a stiff beam and one of a box: the same parts, whatever carries them."""
    parts = []
    for stiff in (True, False):
        model = ps.Model(gravity=(0, -9.81, 0))
        shape = ps.Box(mass=0.4, size=(2.0, 1e-4, 1e-4))
        if stiff:
            section = ps.Section(area=AREA, I1=MOMENT, I2=MOMENT, J=2 * MOMENT)
            shape = ps.Beam(
                length=2.0, section=section, density=DENSITY, youngs_modulus=1e15, elements=2
            )
        body = model.add_body(
            "rod",
            shape,
            position=(0, -1, 0),
            rotation=ps.Rotation.from_axis_angle((0, 0, 1), -np.pi / 2),
        )
        place, bob = (
            (body.start if stiff else body),
            model.add_body("bob", ps.Sphere(mass=0.3, radius=0.05), position=(0, -2, 0)),
        )
        hinge = ps.Revolute(model.ground, place, point=(0, 0, 0), axis=(0, 0, 1))
        model.add_joint("hinge", hinge)
        model.add_joint("end", ps.Weld(body.end if stiff else body, bob))
        modes = analysis.modes(model)
        assert modes.frequencies[0] == pytest.approx(np.sqrt(9.81 * 1.0 / 1.7333333), rel=1e-3)
        parts.append(modes.energies(0))
        assert modes.moves_most(0) == "bob moves along x"
    assert parts[0].keys() == {"rod", "bob"}
    for name in ("rod", "bob"):
        np.testing.assert_allclose(parts[0][name], parts[1][name], atol=1e-4)
    assert np.sum(list(parts[0].values())) == pytest.approx(1)


def test_a_bending_mode_plays_with_its_joints_closed_and_names_the_place_that_moves_most():
    model = ps.Model()
    section = ps.Section(area=AREA, I1=MOMENT, I2=4 * MOMENT, J=2 * MOMENT)
    shape = ps.Beam(length=2.0, section=section, density=DENSITY, youngs_modulus=E, elements=4)
    beam = model.add_body("beam", shape, position=(1, 0, 0))
    for name, place, x in (("A", beam.start, 0.0), ("B", beam.end, 2.0)):
        joint = ps.Revolute if name == "A" else ps.PointOnPlane
        along = {"axis": (0, 0, 1)} if name == "A" else {"normal": (0, 1, 0)}
        model.add_joint(name, joint(model.ground, place, point=(x, 0, 0), **along))
    modes = analysis.modes(model)
    bending = int(np.flatnonzero(modes.frequencies > 0)[0])
    shown = [modes.moves_most(k) for k in range(bending, bending + 3)]
    assert "beam.2 moves along y" in shown
    motion = modes.motion(bending + shown.index("beam.2 moves along y"), amplitude=0.1)
    assert motion.constraint_error.max() < 1e-12
    assert np.ptp(motion.position("beam.2")[:, 1]) > 0.05
    assert [state.name for state in modes.linear.states[:2]] == ["beam.s", "beam.u"]


def test_slow_modes_of_stiff_rods_are_no_rigid_ones_and_responses_are_finite():
    """A rod on a hinge with a spring: 1e5 times slower than its fastest mode."""
    model = ps.Model()
    section = ps.RectangularSection(width=0.02, height=0.01)
    rod = model.add_body(
        "rod",
        ps.ElasticRod(
            [(0, 0, 0), (1, 0, 0)],
            section,
            elements=8,
            youngs_modulus=7e10,
            shear_modulus=2.6e10,
            density=2700,
        ),
    )
    hinge = ps.Revolute(model.ground, rod.start, point=(0, 0, 0), axis=(0, 1, 0))
    model.add_joint("hinge", hinge)
    model.add_force("spring", ps.JointSpring("hinge", stiffness=5.0))
    model.add_port("tip", ps.ForcePort(rod.end, point=(1, 0, 0)))
    all_, slowest = analysis.modes(model), analysis.modes(model, 4)
    assert all_.rigid == slowest.rigid == 0
    assert all_.frequencies.max() > 1e5 * all_.frequencies[0]
    np.testing.assert_allclose(slowest.frequencies, all_.frequencies[:4], rtol=1e-8)
    inertia = 2700 * 2e-4 * (1 + 0.5 / 8**2) / 3  # of lumped masses
    assert all_.frequencies[0] == pytest.approx(np.sqrt(5.0 / inertia), rel=2e-2)
    slow = analysis.frequency_response(model, [1e-2], inputs="tip[2]", outputs="tip[2]")
    compliance = 1 / 5.0 + 1 / (3 * 7e10 * 0.02 * 0.01**3 / 12)
    assert slow.values[0, 0, 0].imag / 1e-2 == pytest.approx(compliance, rel=1e-2)
