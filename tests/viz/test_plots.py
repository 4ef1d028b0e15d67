"""Plots show what is in the result, with units, whatever its kind and length."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from in_turn import in_turn

from poinsot import viz
from poinsot.viz.axes import envelope

PLOTS = {
    "plot_energy": "J",
    "plot_energy_kinds": "J",
    "plot_power": "W",
    "plot_balance": "J",
    "plot_iterations": "iterations",
    "plot_states": "states",
}
MECHANICAL = {
    "plot_momentum": "kg m²/s",
    "plot_constraints": "SI units",
    "plot_drift": "relative",
    "plot_reactions": "N",
    "plot_coordinates": "rad",
}
KINDS = (
    "slider-crank",
    "squeezer",
    "motor",
    "free body",
    "pendulum",
    "one step",
    "evil",
    "quaternions",
)


def lines(figure):
    """Labels and data of the lines of a figure with one plot."""
    (ax,) = figure.axes
    return {line.get_label(): line.get_xydata() for line in ax.lines}


def drawn(figure):
    """Draw it: what cannot be drawn fails here."""
    figure.draw_without_rendering()
    return figure


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *in_turn(PLOTS, KINDS, times=3),
        *in_turn(MECHANICAL, [kind for kind in KINDS if kind != "motor"], times=3),
    ],
)
def test_every_plot_has_labels_and_units(results, name, kind):
    (ax,) = drawn(getattr(viz, name)(results[kind])).axes
    assert ax.get_xlabel() == "time [s]"
    assert (PLOTS | MECHANICAL)[name] in ax.get_ylabel()


@pytest.mark.parametrize("kind", KINDS)
def test_the_overview_shows_what_a_result_has(results, kind):
    headings = [ax.get_title(loc="left") for ax in viz.plot_overview(results[kind]).axes]
    mechanism = bool(results[kind].observation.bodies)
    assert "Error of the energy balance" in headings
    assert ("Angular momentum" in headings) == mechanism
    assert ("States" in headings) == (not mechanism)
    assert ("Joint forces" in headings) == bool(results[kind].observation.joints)
    assert ("Power at ports" in headings) == (kind in ("squeezer", "motor", "evil"))


@pytest.mark.parametrize("kind", ["squeezer", "motor", "evil"])
def test_the_overview_can_be_drawn(results, kind):
    drawn(viz.plot_overview(results[kind]))


def test_plots_are_drawn_into_the_axes_of_the_caller(slider_crank):
    figure = mpl.figure.Figure()
    left, right = figure.subplots(1, 2)
    assert viz.plot_energy(slider_crank, left) is figure
    assert viz.plot_momentum(slider_crank, right, "linear") is figure
    assert "kg m/s" in right.get_ylabel()


def test_the_settings_of_the_caller_are_left_alone(slider_crank):
    before = dict(mpl.rcParams)
    viz.plot_overview(slider_crank)
    assert dict(mpl.rcParams) == before


def test_kinds_of_energy_are_drawn_as_they_are(slider_crank):
    curves = lines(viz.plot_energy_kinds(slider_crank))
    assert list(curves) == ["kinetic", "gravity", "total"]
    np.testing.assert_array_equal(curves["total"][:, 1], slider_crank.energy)
    total = curves["kinetic"][:, 1] + curves["gravity"][:, 1]
    np.testing.assert_allclose(total, slider_crank.energy, rtol=1e-13)


def test_the_account_of_energy_has_every_outer_port(results):
    curves = lines(viz.plot_energy(results["motor"]))
    assert list(curves) == ["supplied by 'supply'", "supplied by 'work'", "stored", "dissipated"]
    supplied = results["motor"].port("supply").energy
    np.testing.assert_array_equal(curves["supplied by 'supply'"][:, 1], supplied)


def test_reactions_are_sizes_of_forces_at_midpoints(slider_crank):
    curves = lines(viz.plot_reactions(slider_crank, joints=["B"]))
    joint = slider_crank.joint("B")
    np.testing.assert_array_equal(curves["B"][:, 0], joint.midpoint)
    np.testing.assert_array_equal(curves["B"][:, 1], np.linalg.norm(joint.force, axis=1))


def test_reactions_that_are_not_unique_are_marked(results):
    figure = viz.plot_reactions(results["squeezer"])
    assert all(label.endswith("*") for label in lines(figure))
    assert "one of many" in figure.axes[0].get_ylabel()


def test_no_two_lines_look_the_same(results):
    (ax,) = viz.plot_reactions(results["squeezer"]).axes
    looks = {(line.get_color(), line.get_linestyle()) for line in ax.lines}
    assert len(looks) == len(ax.lines) == 10


def test_angles_and_displacements_are_plotted_apart(slider_crank):
    angles = lines(viz.plot_coordinates(slider_crank))
    assert list(angles) == ["A", "C a", "C b"]
    (slide,) = lines(viz.plot_coordinates(slider_crank, kind="displacement")).values()
    moved = slider_crank.position("slider")[:, 0] - slider_crank.position("slider")[0, 0]
    np.testing.assert_allclose(slide[:, 1], moved, atol=1e-14)


def test_constraints_of_several_runs_are_told_apart(slider_crank):
    curves = lines(viz.plot_constraints({"a": slider_crank, "b": slider_crank}, level="velocity"))
    assert list(curves) == ["a", "b"]


def test_what_is_exact_is_said_to_be(slider_crank):
    exact = replace(slider_crank, balance_error=np.zeros_like(slider_crank.time))
    (ax,) = drawn(viz.plot_balance(exact)).axes
    assert "exactly zero" in [text.get_text() for text in ax.texts]


def test_names_are_printed_as_they_are(results):
    figure = drawn(viz.plot_reactions(results["evil"]))
    (ax,) = figure.axes
    shown = [text.get_text() for text in ax.get_legend().get_texts()]
    assert shown == ["\u200b_'\"><svg onload=alert(1)>", "</script>"]


@pytest.mark.parametrize("size", [1, 2, 3999, 4001, 50_000, 1_000_003])
def test_thinning_keeps_ends_order_and_peaks(size):
    time = np.linspace(0, 1, size)
    values = np.sin(40 * time) + 0.1 * np.random.default_rng(1).normal(size=size)
    values[size // 3], values[size // 2] = 17.0, -19.0
    t, v = envelope(time, values)
    assert t.size <= 4001
    assert np.all(np.diff(t) > 0)
    assert (t[0], t[-1]) == (time[0], time[-1])
    assert (v.max(), v.min()) == (values.max(), values.min())
    assert np.isin(v, values).all()


def test_thinning_passes_over_what_is_not_a_number():
    values = np.full(100_000, np.nan)
    values[777] = 3.0
    _, v = envelope(np.arange(1e5), values)
    assert np.nanmax(v) == 3.0


def test_a_million_saved_steps_are_drawn_as_few_points(results):
    motor = results["motor"]
    time = np.linspace(0, 1, 1_000_001)
    long = replace(
        motor, time=time, ports={}, energy=np.cos(time), dissipated=0 * time, balance_error=time
    )
    for curve in lines(viz.plot_energy(long)).values():
        assert len(curve) <= 4001


@pytest.mark.parametrize("draw", [viz.plot_energy, viz.plot_overview, viz.picture])
def test_a_notebook_shows_a_figure_without_further_ado(draw, slider_crank):
    assert draw(slider_crank)._repr_png_().startswith(b"\x89PNG")
