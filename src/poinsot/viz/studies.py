"""Plots of studies: lines over one parameter, maps over two, and quantiles over time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from poinsot.errors import InputError, did_you_mean
from poinsot.viz.axes import figure_of, over_time, plain
from poinsot.viz.style import COLOURS, SEQUENTIAL, Axes, Figure, drawing, new_figure, style

if TYPE_CHECKING:
    import xarray

Array = NDArray[np.float64]

#: Bands between these quantiles, the widest first.
BANDS = ((0.0, 1.0), (0.05, 0.95), (0.25, 0.75))
#: So many runs are drawn as lines; more are a fan.
LINES = 20
#: A page has so many quantities at most.
PAGE = 6
#: What a quantity of a run is, over its time.
REDUCED = ("end", "max", "min", "mean")


def plot_fan(
    study: "xarray.Dataset", name: str, ax: "Axes | None" = None, **settings: Any
) -> "Figure":
    """Plot the median of a quantity over time, with bands of 50, 90 and 100 % of the runs."""
    values = _component(study, name)
    time = _common_time(study)
    with over_time(ax, _label(study, name), **settings) as ax:
        fine = values[np.isfinite(values).all(axis=1)]
        if len(fine):
            for k, (low, high) in enumerate(BANDS):
                ends = np.quantile(fine, [low, high], axis=0)
                look: dict[str, Any] = {"color": COLOURS[0], "alpha": 0.15 + 0.1 * k, "lw": 0}
                ax.fill_between(time, *ends, label=f"{100 * (high - low):.0f} % of runs", **look)
            ax.plot(time, np.median(fine, axis=0), color=COLOURS[0], label="median")
    if "ylim" not in settings:  # room for the legend, which cannot tell where bands are
        low, high = ax.get_ylim()
        ax.set_ylim(low, high + 0.3 * (high - low))
    with style():
        ax.legend(loc="upper center", ncols=2, fontsize="x-small")
    return figure_of(ax)


def plot_runs(
    study: "xarray.Dataset", name: str, ax: "Axes | None" = None, **settings: Any
) -> "Figure":
    """Plot a quantity over time, one line per run, coloured by the first parameter."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import LinearSegmentedColormap, LogNorm, Normalize

    values = _component(study, name)
    parameter, numbers = next(_varied(study), ("run", np.arange(float(len(values)))))
    shown = np.isfinite(values).any(axis=1)
    ends = (numbers[shown].min(), numbers[shown].max()) if shown.any() else (0.0, 1.0)
    scale = (LogNorm if _logarithmic(numbers[shown]) else Normalize)(*ends)
    colours = ScalarMappable(scale, LinearSegmentedColormap.from_list("runs", SEQUENTIAL))
    each = np.broadcast_to(study["time"].values, values.shape)
    with over_time(ax, _label(study, name), **settings) as ax:
        for k in np.flatnonzero(shown):
            ax.plot(each[k], values[k], color=colours.to_rgba(numbers[k]), lw=1.2)
        figure_of(ax).colorbar(colours, ax=ax, label=plain(parameter))
    return figure_of(ax)


def plot_dependence(
    study: "xarray.Dataset",
    name: str,
    ax: "Axes | None" = None,
    *,
    of: str | None = None,
    reduce: str = "end",
    **settings: Any,
) -> "Figure":
    """Plot a quantity over a parameter: its final, largest, smallest or mean value in each run.

    On a grid of two parameters, there is one line for each value of the other parameter.
    """
    values, parameters = _reduced(study, name, reduce), dict(_varied(study))
    of = of or next(iter(parameters), None)
    if of is None or of not in parameters:
        raise InputError(f"no parameter '{of}' that varies; {did_you_mean(str(of), parameters)}")
    x, others = parameters[of], [each for path, each in parameters.items() if path != of]
    with style():
        ax = new_figure(6, 4).add_subplot() if ax is None else ax
        grid = _grid(study)
        lines = len(np.unique(others[0])) if grid is not None and len(others) == 1 else LINES
        if not others or lines <= 8:
            other = next((path for path in parameters if path != of), "")
            for number in np.unique(others[0]) if others else [None]:
                own = np.ones(x.size, dtype=bool) if number is None else others[0] == number
                order = np.argsort(x[own], kind="stable")
                told = None if number is None else plain(f"{other} = {number:.4g}")
                dots = "." if own.sum() <= 50 else ""
                ax.plot(x[own][order], values[own][order], marker=dots, label=told)
            if others:
                ax.legend()
        else:
            ax.plot(x, values, linestyle="", marker=".", markersize=3)
        if _logarithmic(x):
            ax.set_xscale("log")
        label = f"{_label(study, name)}, {_told(reduce)}"
        ax.set(**{"xlabel": plain(of), "ylabel": label, **settings})
    return figure_of(ax)


def plot_map(
    study: "xarray.Dataset",
    name: str,
    ax: "Axes | None" = None,
    *,
    reduce: str = "end",
    **settings: Any,
) -> "Figure":
    """Plot a quantity over two parameters: its final, largest, smallest or mean value.

    Runs on a grid are drawn as a map, others as dots.
    """
    from matplotlib.colors import LinearSegmentedColormap

    values, parameters = _reduced(study, name, reduce), list(_varied(study))
    if len(parameters) < 2:
        raise InputError(f"a map needs two parameters that vary, but there are {len(parameters)}")
    (first, x), (second, y) = parameters[:2]
    colours = LinearSegmentedColormap.from_list("map", SEQUENTIAL)
    with style():
        ax = new_figure(6, 4.5).add_subplot() if ax is None else ax
        ax.grid(visible=False)
        grid = _grid(study)
        if grid is not None and len(parameters) == 2:
            table = np.full((len(grid[1]), len(grid[0])), np.nan)
            table[np.searchsorted(grid[1], y), np.searchsorted(grid[0], x)] = values
            shown: Any = ax.pcolormesh(*grid, table, cmap=colours, shading="nearest")
        else:
            shown = ax.scatter(x, y, c=values, cmap=colours, s=12)
        for numbers, scale in ((x, ax.set_xscale), (y, ax.set_yscale)):
            if _logarithmic(numbers):
                scale("log")
        label = f"{_label(study, name)}, {_told(reduce)}"
        figure_of(ax).colorbar(shown, ax=ax, label=label)
        ax.set(**{"xlabel": plain(first), "ylabel": plain(second), **settings})
    return figure_of(ax)


def plot_study(study: "xarray.Dataset", names: "list[str] | None" = None) -> "Figure":
    """Plot quantities of a study on one page: over time, and at the end over the parameters.

    `names` are quantities such as `"energy"` and `"rod.position.x"`. Default: the first few that
    differ between runs.
    """
    names = list(_telling(study))[:PAGE] if names is None else list(names)
    if not names:
        raise InputError("there is nothing to plot: no run has ended, or all runs are equal")
    varied = list(_varied(study))
    with drawing(10, 3.0 * len(names) + 0.6) as figure:
        done = int(np.sum((study["status"].values == 1) | (study["status"].values == 2)))
        figure.suptitle(plain(f"{study.attrs.get('model', 'study')}: {done} runs"))
        for k, name in enumerate(names):
            ax = figure.add_subplot(len(names), 2, 2 * k + 1)
            own = study.sizes["run"] <= LINES or study["time"].ndim > 1
            (plot_runs if own else plot_fan)(study, name, ax)
            if k and (legend := ax.get_legend()) is not None:
                legend.remove()
            beside = figure.add_subplot(len(names), 2, 2 * k + 2)
            if len(varied) == 2:
                plot_map(study, name, beside)
            elif varied:
                plot_dependence(study, name, beside)
            else:
                beside.set_axis_off()
    return figure


# -- numbers ---------------------------------------------------------------------------------------


def _varied(study: "xarray.Dataset") -> Iterator[tuple[str, Array]]:
    """Yield parameters that change, number by number: what each is called, and its values."""
    for path, variable in study.variables.items():
        if "parameter" not in variable.attrs:
            continue
        values = variable.values.reshape(len(variable), -1)
        for k in range(values.shape[1]):
            if np.any(values[:, k] != values[0, k]):
                shown = f".{_of_axis(k, variable.ndim)}" if variable.ndim > 1 else ""
                yield f"{path}{shown}", values[:, k]


def _of_axis(k: int, dimensions: int) -> str:
    return "xyz"[k] if dimensions == 2 and k < 3 else str(k)


def _components(study: "xarray.Dataset") -> Iterator[str]:
    """Yield the names of all quantities, number by number."""
    for name, variable in study.data_vars.items():
        if variable.dims[:2] != ("run", "sample") or name == "time":
            continue
        inner = variable.shape[2:]
        for k in range(int(np.prod(inner, dtype=int))):
            yield f"{name}.{_of_axis(k, len(inner) + 1)}" if inner else str(name)


def _telling(study: "xarray.Dataset") -> Iterator[str]:
    """Yield the names of quantities that change and of which runs differ."""
    for name in _components(study):
        values = _component(study, name)
        values = values[np.isfinite(values).all(axis=1)]
        if values.size and np.ptp(values) > 1e-12 * np.max(abs(values)) and name != "balance_error":
            yield name


def _component(study: "xarray.Dataset", name: str) -> Array:
    """Return a number over time, of runs that are not pending; (runs, samples)."""
    known = list(_components(study))
    if name not in known:
        raise InputError(f"no quantity '{name}'; {did_you_mean(name, known)}")
    variable = study.data_vars.get(name)
    k = 0
    if variable is None:
        owner = name.rpartition(".")[0]
        variable = study[owner]
        k = [each for each in known if each.rpartition(".")[0] == owner].index(name)
    values: Array = variable.values.reshape(*variable.shape[:2], -1)[:, :, k]
    return np.where(study["status"].values[:, None] == 0, np.nan, values)


def _reduced(study: "xarray.Dataset", name: str, reduce: str) -> Array:
    """Return one number of each run; nan for those that failed."""
    values = _component(study, name)
    if reduce not in REDUCED:
        raise InputError(f"reduce: no '{reduce}'; {did_you_mean(reduce, REDUCED)}")
    complete = np.isin(study["status"].values, (1, 2))
    found = np.full(len(values), np.nan)
    some = complete & np.isfinite(values).any(axis=1)
    if reduce == "end":
        last = values.shape[1] - 1 - np.argmax(np.isfinite(values[some])[:, ::-1], axis=1)
        found[some] = values[some, last]
    else:
        functions: dict[str, Any] = {"max": np.nanmax, "min": np.nanmin, "mean": np.nanmean}
        found[some] = functions[reduce](values[some], axis=1)
    return found


def _common_time(study: "xarray.Dataset") -> Array:
    if study["time"].ndim > 1:
        raise InputError("runs have different times; use plot_runs")
    return np.asarray(study["time"].values, dtype=float)


def _grid(study: "xarray.Dataset") -> list[Array] | None:
    """Return the values of parameters that are combined each with each; None: they are not."""
    values = [numbers for _, numbers in _varied(study)]
    lists = [np.unique(each) for each in values]
    size = int(np.prod([len(each) for each in lists], dtype=float))
    rows = np.unique(np.column_stack(values), axis=0) if values else np.zeros((0, 0))
    return lists if len(lists) > 1 and len(rows) == size == study.sizes["run"] else None


def _logarithmic(values: Array) -> bool:
    """Return whether values are spread over powers of ten."""
    low, high = np.min(values, initial=np.inf), np.max(values, initial=-np.inf)
    return bool(low > 0 and high > 50 * low and np.median(values) < 0.2 * high)


def _told(reduce: str) -> str:
    return {"end": "at the end"}.get(reduce, reduce)


def _label(study: "xarray.Dataset", name: str) -> str:
    owner = name if name in study.data_vars else name.rpartition(".")[0]
    unit = study[owner].attrs.get("units")
    return plain(f"{name} [{unit}]" if unit else name)
