"""What models, systems and results show of themselves, in one line and in notebooks."""

from html.parser import HTMLParser

import numpy as np
import pytest

import poinsot as ps
from poinsot.ph.system import PHSystem

NASTY = "<script>alert('b')</script>&"


class Reader(HTMLParser):
    """Tags that are open and closed, and the text."""

    def __init__(self, html):
        super().__init__()
        self.open, self.tags, self.text = [], set(), ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data + "\n"


def pendulum(name=NASTY):
    model = ps.Model(gravity=(0, 0, -9.81), name=name)
    rod = model.add_body(name, ps.Box(mass=1, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, rod, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_marker("tip", rod, position=(1, 0, 0))
    model.add_port("push", ps.ForcePort(rod, value=["1", "0", "0"]))
    model.add_force("spring", ps.JointSpring("hinge", stiffness=2))
    coil = {"J": [[0.0]], "R": [[2.0]], "Q": [[10.0]], "B": [[1.0]], "states": ["flux"]}
    model.add_system("motor", ps.ph.linear("coil", ports=[ps.ph.Port("supply")], **coil))
    model.add_sensor("lean", "hinge.angle")
    model.add_controller("pd", "-hinge", reads=["hinge"], drives="hinge", every=0.01)
    return model


def every_kind_of_system():
    plain = ps.Model(name="m")
    plain.add_body("b", ps.Sphere(mass=1, radius=1))
    for coordinates in ("directors", "quaternions", "rotations"):
        yield plain.compile(coordinates)
    yield plain.compile(stabilised=True)
    model = pendulum("p")
    yield model.compile()
    yield model.systems["motor"]


def test_systems_are_shown_in_one_line():
    for system in every_kind_of_system():
        assert isinstance(system, PHSystem)
        line = repr(system)
        assert line.startswith(f"<{type(system).__name__} '{system.name}': {system.n} state")
        assert len(line) < 120


def test_models_and_results_are_shown_in_one_line():
    model = pendulum("p")
    assert repr(model) == (
        "<Model 'p': 1 body, 1 marker, 1 joint, 1 force, 1 port, 1 system, 1 sensor, 1 controller>"
    )
    result = ps.simulate(model, h=0.01, t_end=0.1)
    assert repr(result) == "<Result of 'p': ph-mp, h = 0.01 s, 10 steps, 0 to 0.1 s (done)>"


@pytest.mark.parametrize("what", ["model", "system", "result"])
def test_cards_are_whole_and_escaped_and_need_nothing_else(what):
    model = pendulum()
    shown = {
        "model": lambda: model,
        "system": model.compile,
        "result": lambda: ps.simulate(model, h=0.01, t_end=0.1),
    }[what]()
    html = shown._repr_html_()
    read = Reader(html)
    assert read.open == []
    assert read.tags <= {"div", "strong", "table", "tr", "td", "details", "summary"}
    assert NASTY in read.text
    assert "http" not in html
    for name in {"model": ("hinge", "lean", "Box, 1 kg"), "system": ("motor.flux", "fed")}.get(
        what, ("Bodies (1)", "hinge", "largest balance error")
    ):
        assert name in read.text


def test_long_lists_are_cut():
    model = ps.Model()
    for k in range(300):
        model.add_body(f"b{k}", ps.PointMass(mass=1), position=(k, 0, 0))
    text = Reader(model._repr_html_()).text
    assert "Bodies (300)" in text
    assert "and 100 more" in text
    assert text.count("PointMass") == 200


def test_inputs_and_outputs_of_ports_are_drawn_with_their_units():
    from poinsot.viz import plot_ports

    model = pendulum("p")
    model.add_port("turn", ps.TorquePort(model.bodies["p"], value=(0, 0, 0)))
    result = ps.simulate(model, h=0.01, t_end=0.1)
    axes = plot_ports(result).axes[0]
    labels = [line.get_label() for line in axes.get_lines()]
    assert "hinge [N m]" in labels
    assert "push 1 [N]" in labels
    drawn = axes.get_lines()[labels.index("hinge [N m]")].get_ydata()
    np.testing.assert_allclose(drawn, result.port("hinge").u[:, 0])
    axes = plot_ports(result, ports=["hinge"], kind="output").axes[0]
    assert [line.get_label() for line in axes.get_lines()] == ["hinge [rad/s]"]
