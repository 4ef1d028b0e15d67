"""Pictures of studies show the numbers of the study."""

import numpy as np
import pytest

import poinsot as ps
from poinsot.gallery import spatial_slider_crank as crank


@pytest.fixture(scope="module")
def grid():
    values = ps.grid({"bodies.rod.mass": [0.2, 0.5, -1.0], "gravity.z": [-9.81, -5.0, -1.0]})
    options = {"h": 0.02, "t_end": 0.2, "what": ("energy", "rod.position"), "workers": 1}
    return ps.ensemble(crank.model(), values, **options)


def test_a_map_has_a_field_for_each_run(grid):
    ax = ps.viz.plot_map(grid, "rod.position.x").axes[0]
    shown = ax.collections[0].get_array()
    wanted = grid["rod.position"][:, -1, 0].values.reshape(3, 3)
    order = [2, 0, 1]  # by mass
    assert np.array_equal(np.ma.filled(shown, np.nan), wanted[order].T, equal_nan=True)
    assert ax.get_xlabel() == "bodies.rod.mass"


def test_a_fan_has_the_median_and_all_runs_inside(grid):
    ax = ps.viz.plot_fan(grid, "energy").axes[0]
    values = grid.energy.values[grid.status == 1]
    assert np.allclose(ax.lines[0].get_ydata(), np.median(values, axis=0), rtol=1e-15)
    outer = ax.collections[0].get_paths()[0].vertices[:, 1]
    assert (outer.min(), outer.max()) == (values.min(), values.max())


def test_dependence_has_a_line_for_each_value_of_the_other_parameter(grid):
    ax = ps.viz.plot_dependence(grid, "rod.position.z", of="gravity.z", reduce="max").axes[0]
    assert [line.get_label() for line in ax.lines][1:] == [
        "bodies.rod.mass = 0.2",
        "bodies.rod.mass = 0.5",
    ]
    top = grid["rod.position"][0:3, :, 2].max("sample").values
    assert np.array_equal(ax.lines[1].get_ydata(), top)


def test_a_page_and_what_is_not_there(grid):
    assert len(ps.viz.plot_study(grid, ["energy", "rod.position.x"]).axes) == 8
    with pytest.raises(ps.InputError, match=r"did you mean 'rod.position.z'"):
        ps.viz.plot_fan(grid, "rod.position.w")
    with pytest.raises(ps.InputError, match="no parameter 'gravity'"):
        ps.viz.plot_dependence(grid, "energy", of="gravity")
