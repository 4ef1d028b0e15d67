"""The same model on the same machine: the same result, bit for bit."""

import hashlib
import os
import subprocess
import sys
from itertools import pairwise

import mechanisms
import numpy as np
import pytest

import poinsot as ps
from poinsot.run import compiled, loop

RUNS = [
    ("ph-mp", "directors"),
    ("ph-mp-ggl", "directors"),
    ("ph-mp", "rotations"),
    ("emh-mean", "quaternions"),
    ("ph-mp-4", "rotations-quaternion"),
]
#: Multipliers that follow from motions are left out of files.
MOTION = (".q", ".v", ".p", ".w")


def mechanism(seed, *, lossless=False):
    """Closed loops with springs, loads and dampers; or a tree with point masses, without losses."""
    if lossless:
        return mechanisms.with_points(mechanisms.tree(seed, bodies=3), seed).model()
    plan = mechanisms.springs(mechanisms.tree(seed, bodies=3, loops=1), seed)
    return mechanisms.ports(plan, seed).model()


def run(scheme, coordinates, seed=4, steps=40, **options):
    model = mechanism(seed, lossless=coordinates.startswith("rotations"))
    given = {"scheme": scheme, "coordinates": coordinates, "h": 0.01, "t_end": 0.01 * steps}
    return ps.simulate(model, **given, **options)


def same(one, other):
    """Whether motions, energies and what went through ports are the same bits."""
    names = [name for name in one.states if name.endswith(MOTION)]
    pairs = [(one[name], other[name]) for name in names]
    pairs += [(one.energy, other.energy), (one.dissipated, other.dissipated)]
    pairs += [(one.port(name).y, other.port(name).y) for name in one.ports]
    return all(a.tobytes() == b.tobytes() for a, b in pairs)


def digests():
    """Print what runs come to, for processes of their own."""
    for scheme, coordinates in RUNS[1::2]:
        for engine in ("compiled", "reference"):
            steps = 40 if engine == "compiled" else 2
            result = run(scheme, coordinates, steps=steps, engine=engine)
            found = b"".join(result[name].tobytes() for name in sorted(result.states))
            print(scheme, coordinates, engine, hashlib.sha256(found).hexdigest())


def test_processes_with_other_hashes_give_the_same_bits():
    folders = os.pathsep.join(filter(None, sys.path))
    outputs = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": folders}
        command = [sys.executable, "-c", "import test_determinism as t; t.digests()"]
        here = os.path.dirname(__file__)
        done = subprocess.run(
            command, cwd=here, env=environment, capture_output=True, text=True, check=True
        )
        outputs.append(done.stdout)
    assert outputs[0].count("\n") == 4
    assert all(one == other for one, other in pairwise(outputs))


@pytest.mark.parametrize(("scheme", "coordinates"), RUNS)
def test_the_size_of_blocks_does_not_matter(scheme, coordinates, monkeypatch):
    whole = run(scheme, coordinates)
    monkeypatch.setattr(compiled, "FIRST", 0)
    monkeypatch.setattr(loop, "PAUSE", 0.0)
    assert same(whole, run(scheme, coordinates))


@pytest.mark.parametrize(("scheme", "coordinates"), RUNS)
def test_a_file_that_is_written_on_the_way_does_not_matter(scheme, coordinates, tmp_path):
    kept = run(scheme, coordinates)
    assert same(kept, run(scheme, coordinates, output=tmp_path / "run.nc"))
    assert same(kept, ps.load(tmp_path / "run.nc"))


@pytest.mark.parametrize(("scheme", "coordinates"), RUNS)
@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_which_steps_are_saved_does_not_matter(scheme, coordinates, engine):
    steps = 40 if engine == "compiled" else 6
    every = run(scheme, coordinates, engine=engine, steps=steps)
    few = run(scheme, coordinates, engine=engine, steps=steps, save_every=4)
    rows = np.searchsorted(every.time, few.time)
    for name in (n for n in every.states if n.endswith(MOTION)):
        assert few[name].tobytes() == every[name][rows].tobytes(), name
    assert few.energy.tobytes() == every.energy[rows].tobytes()
