"""A result as an xarray dataset."""

from typing import TYPE_CHECKING

from poinsot.result.attributes import attributes
from poinsot.result.result import Result
from poinsot.result.variables import MIDPOINT, TIME, labels, variables

if TYPE_CHECKING:
    import xarray


def to_xarray(result: Result) -> "xarray.Dataset":
    """Return everything that a result holds, by names, with units; see `Result.to_xarray`."""
    import xarray

    known = {
        name: (variable.dims, variable.read(slice(None)), variable.attrs)
        for name, variable in variables(result).items()
    }
    axes = {name: known.pop(name) for name in (TIME, MIDPOINT)}
    named = {
        name: ((label.dim,), label.values, {"long_name": label.long_name})
        for name, label in labels(result).items()
    }
    return xarray.Dataset(known, {**axes, **named}, attributes(result))
