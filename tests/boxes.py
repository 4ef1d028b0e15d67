"""Studies in a box of parameters, and their numbers against those of models that are built."""

import numpy as np

from poinsot.model.parameters import Parameters
from poinsot.ph.stages import EPS
from poinsot.studies.cases import Cases
from poinsot.studies.numbers import GUESSED, Numbers

OPTIONS = {"step": 0.01, "t_end": 0.05, "engine": "compiled"}


def search(model, values, runs=300, options=OPTIONS):
    """Numbers of a study in a box of values, its cases and rows."""
    parameters = Parameters.of(model, values)
    random = np.random.default_rng(0)
    columns = []
    for low, high in values.values():
        low, high = np.array(low, dtype=float), np.array(high, dtype=float)
        columns.append((low + (high - low) * random.random((runs, *low.shape))).reshape(runs, -1))
    rows = np.hstack(columns)
    cases = Cases(parameters, {path: np.shape(low) for path, (low, _) in values.items()}, options)
    return Numbers.of(cases.opening, rows, cases.parts), cases, rows


def assert_those_of_models(numbers, cases, rows):
    """Energies, inertia and motions agree to round-off of their largest numbers."""
    image = numbers.image
    for row in rows:
        made, built = numbers.whole(row[None])[0], cases.opening(row).numbers(image)
        for name, field in image.fields.items():
            if field.dtype.kind != "f" or name in GUESSED:
                continue
            a, b = (image.view(each[: image.size], name) for each in (made, built))
            finite = np.isfinite(b)
            size = np.max(abs(b[finite]), initial=0.0)
            assert np.array_equal(a[~finite], b[~finite], equal_nan=True)
            assert np.allclose(a[finite], b[finite], rtol=0, atol=1e3 * EPS * size + 1e-15), name
