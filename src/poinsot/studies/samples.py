"""Parameter values of many runs: tables, grids and samples."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from poinsot.errors import InputError
from poinsot.inputs import count, named

Array = NDArray[np.float64]

EXAMPLE = "{'bodies.rod.mass': [0.4, 0.5, 0.6]}"
#: More runs than these are a mistake.
MOST = 10**8


def table(values: Mapping[str, ArrayLike] | Any) -> dict[str, Array]:
    """Return the values of parameters by path, one for each run, from a mapping, table or dataset.

    Numbers have the shape (runs,), vectors (runs, 3). Raises `InputError` for different lengths.
    """
    columns = getattr(values, "columns", None)  # of a table of pandas
    if not isinstance(values, Mapping) and columns is not None:
        values = {str(name): values[name].to_numpy() for name in columns}
    found: dict[str, Array] = {}
    for path, given in named(values, "parameters", EXAMPLE).items():
        what = f"parameters: '{path}'"
        try:
            own = np.array(given, dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{what}: expected a list of numbers, got {given!r}") from None
        if own.ndim == 0 or not len(own):
            raise InputError(f"{what}: expected a list with a value for each run, got {given!r}")
        found[path] = own
    if not found:
        raise InputError(f"parameters is empty; give at least one, such as {EXAMPLE}")
    lengths = {path: len(own) for path, own in found.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"'{path}' has {size}" for path, size in lengths.items())
        raise InputError(
            f"parameters: lists have different lengths: {each}; "
            "give one value for each run, or use poinsot.grid(...) for all combinations"
        )
    return found


def grid(values: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """Return all combinations of values; the last parameter changes fastest.

    Parameters
    ----------
    values : mapping
        Path -> values: `{"bodies.rod.mass": [0.4, 0.5], "gravity.z": [-9.81, -1.62]}` gives four
        runs.

    Returns
    -------
    dict
        Path -> value for each run, for `ensemble`.
    """
    lists = {
        path: table({path: each})[path] for path, each in named(values, "grid", EXAMPLE).items()
    }
    if not lists:
        raise InputError(f"grid: values is empty; give at least one parameter, such as {EXAMPLE}")
    sizes = [len(each) for each in lists.values()]
    if float(np.prod(sizes, dtype=float)) > MOST:
        raise InputError(
            f"grid: {' x '.join(map(str, sizes))} runs are too many; use fewer values, or "
            "poinsot.sobol"
        )
    places = np.indices(sizes).reshape(len(sizes), -1)
    return {path: each[place] for (path, each), place in zip(lists.items(), places, strict=True)}


def latin_hypercube(
    ranges: Mapping[str, tuple[ArrayLike, ArrayLike]], runs: int, *, seed: int = 0
) -> dict[str, Array]:
    """Return Latin hypercube samples of parameters [MBC79].

    Parameters
    ----------
    ranges : mapping
        Path -> (low, high), two numbers or two vectors.
    runs : int
        Number of samples.
    seed : int
        Seed of the random numbers.

    Returns
    -------
    dict
        Path -> value for each run, for `ensemble`.
    """
    from scipy.stats import qmc

    random = np.random.default_rng(count(seed, "seed", 0))
    return _in_box(ranges, runs, lambda n: qmc.LatinHypercube(n, seed=random))


def sobol(
    ranges: Mapping[str, tuple[ArrayLike, ArrayLike]], runs: int, *, seed: int = 0
) -> dict[str, Array]:
    """Return scrambled Sobol points of parameters [S67].

    Parameters
    ----------
    ranges : mapping
        Path -> (low, high), two numbers or two vectors.
    runs : int
        Number of points; they are balanced for powers of two.
    seed : int
        Seed of the scrambling.

    Returns
    -------
    dict
        Path -> value for each run, for `ensemble`.
    """
    from scipy.stats import qmc

    random = np.random.default_rng(count(seed, "seed", 0))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of numbers that are no powers of two
        return _in_box(ranges, runs, lambda n: qmc.Sobol(n, seed=random))


def _in_box(ranges: Mapping[str, Any], runs: int, sampler: Any) -> dict[str, Array]:
    if count(runs, "runs", 1) > MOST:
        raise InputError(f"{runs} runs are too many")
    pairs: dict[str, tuple[Array, Array]] = {}
    for path, pair in named(ranges, "ranges", "{'bodies.rod.mass': (0.4, 0.6)}").items():
        try:
            low, high = (np.array(end, dtype=float) for end in pair)
        except (TypeError, ValueError):
            raise InputError(f"ranges: '{path}': expected (low, high), got {pair!r}") from None
        if low.shape != high.shape or not np.all(np.isfinite([low, high])) or np.any(low > high):
            raise InputError(
                f"ranges: '{path}': expected finite (low, high) of the same shape with low <= "
                f"high, got {pair!r}"
            )
        pairs[path] = low, high
    if not pairs:
        raise InputError(
            "ranges is empty; give at least one parameter, such as {'bodies.rod.mass': (0.4, 0.6)}"
        )
    size = sum(low.size for low, _ in pairs.values())
    unit, first, found = sampler(size).random(runs), 0, dict[str, Array]()
    for path, (low, high) in pairs.items():
        own = unit[:, first : first + low.size].reshape(runs, *low.shape)
        found[path], first = low + own * (high - low), first + low.size
    return found
