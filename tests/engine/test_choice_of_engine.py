"""Which engine runs what, and that nobody pays for the one that is not used."""

import subprocess
import sys

import pytest
from engines import add_every_part
from parts import oscillator

import poinsot as ps


def mechanism():
    model = ps.Model()
    add_every_part(model)
    return model


OPTIONS = {"h": 0.01, "t_end": 0.05}


@pytest.mark.parametrize("scheme", ["ph-mp", "ph-mp-ggl"])
@pytest.mark.parametrize(
    ("asked", "used"),
    [("auto", "compiled"), ("compiled", "compiled"), ("reference", "reference")],
)
def test_mechanisms_are_run_by_the_compiled_engine_unless_asked_otherwise(asked, used, scheme):
    assert ps.simulate(mechanism(), engine=asked, scheme=scheme, **OPTIONS).engine == used


def test_a_compiled_system_is_run_like_its_model():
    system = mechanism().compile(coordinates="directors")
    assert ps.simulate(system, scheme="ph-mp", **OPTIONS).engine == "compiled"


@pytest.mark.parametrize("scheme", ["ph-dg", "ph-mp"])
def test_other_systems_are_run_by_the_reference_engine(scheme):
    result = ps.simulate(oscillator(), x0=[1, 0], scheme=scheme, **OPTIONS)
    assert result.engine == "reference"


@pytest.mark.parametrize("scheme", ["ph-dg", "ph-dg-partitioned", "ph-avf"])
def test_mechanisms_with_other_schemes_are_run_by_the_reference_engine(scheme):
    model = ps.Model()
    model.add_body("ball", ps.Sphere(mass=1, radius=1), angular_velocity=(1, 2, 3))
    assert ps.simulate(model, scheme=scheme, **OPTIONS).engine == "reference"


def test_the_compiled_engine_says_what_it_cannot_run():
    with pytest.raises(ps.InputError) as error:
        ps.simulate(oscillator(), x0=[1, 0], engine="compiled", **OPTIONS)
    for word in ("mechanisms with 'ph-mp', 'ph-mp-ggl'", "'oscillator' with 'ph-dg'", "'auto'"):
        assert word in str(error.value)
    with pytest.raises(ps.InputError, match=r"not system 'model' with 'ph-dg'; use engine='auto'"):
        ps.simulate(mechanism(), scheme="ph-dg", engine="compiled", **OPTIONS)


def test_repeated_constraints_in_quaternions_are_said_to_need_another_scheme():
    model = mechanism()
    wheel = model.bodies["wheel"]
    model.add_joint("again", ps.Revolute(model.ground, wheel, point=(2, 2.2, 3), axis=(0, 0, 1)))
    options = {"coordinates": "quaternions", "engine": "compiled", **OPTIONS}
    with pytest.raises(ps.InputError, match=r"constraints repeat each other; 'eml-mean'"):
        ps.simulate(model, scheme="eml", **options)
    assert ps.simulate(model, scheme="eml-mean", **options).engine == "compiled"


def test_an_unknown_engine_is_refused_with_the_known_ones():
    with pytest.raises(ps.InputError, match="no engine 'gpu'; choose from auto, reference, comp"):
        ps.simulate(mechanism(), engine="gpu", **OPTIONS)


def run_python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


LOADED = """
heavy = {"numba", "llvmlite", "matplotlib", "skfem", "sksundae"}
import sys
print(*sorted(heavy & {name.partition(".")[0] for name in sys.modules}))
"""


def test_importing_poinsot_imports_neither_numba_nor_pictures():
    assert run_python("import poinsot" + LOADED) == []


def test_the_reference_engine_does_not_import_numba():
    code = """
import poinsot as ps
model = ps.Model()
model.add_body("ball", ps.Sphere(mass=1, radius=1))
ps.simulate(model, h=0.1, t_end=1, engine="reference")
"""
    assert run_python(code + LOADED) == []
