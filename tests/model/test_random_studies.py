"""Random mechanisms whose runs follow from polynomials of parameters."""

import mechanisms
import numpy as np
from boxes import assert_those_of_models, search
from hypothesis import given
from hypothesis import strategies as st
from test_model_files import writable

from poinsot.io.paths import known
from poinsot.io.reading import read_content
from poinsot.model.describe import describe
from poinsot.model.parameters import Parameters
from poinsot.studies.numbers import NoPolynomialsError

#: What is changed, by the ends of paths.
CHANGED = (".mass", ".inertia", ".stiffness", ".damping", ".rest", ".velocity", ".angular_velocity")


@given(st.integers(0, 2**32 - 1))
@mechanisms.laws(4)
def test_random_mechanisms(seed):
    """Masses, sizes, forces and velocities: what has polynomials agrees with what is built."""
    model = writable(seed).model()
    document = read_content(describe(model, None), name="model").document
    paths = [p for p in known(document) if p.endswith(CHANGED)]
    chosen = np.random.default_rng(seed).permutation(paths)[:3].tolist()
    values = Parameters.of(model, chosen).values
    box = {}
    for path, value in values.items():
        if value is not None:
            box[path] = (0.9 * value, 1.1 * value)
    try:
        numbers, cases, rows = search(model, {**box, "gravity.z": (-10.0, -1.0)}, 200)
    except NoPolynomialsError:
        return  # velocities that masses share out, and others: models are built then
    assert_those_of_models(numbers, cases, rows[:2])
