"""Kernels are compiled for the parts that a mechanism has; one for all parts does the same."""

import numpy as np
import pytest
from engines import add_hinge, run

import poinsot as ps
from poinsot.mechanics.compiled.machine import Tables

OPTIONAL = ("rows", "struts", "strut_acts", "loads", "drags", "fields", "dials", "dial_terms")


def top(*, hinge):
    model = ps.Model(gravity=(0, 0, -9.81))
    body = model.add_body("top", ps.Box(mass=1, size=(0.3, 0.4, 0.5)), angular_velocity=(1, 0, 2))
    model.add_joint("tip", ps.Spherical(model.ground, body, point=(0.3, 0.3, 0.3)))
    if hinge:
        add_hinge(model)
    model.project_velocities()
    return model


def machine(model):
    system = model.compile()
    return Tables(system.mechanism, system.layout).machine()


@pytest.mark.parametrize("hinge", [False, True])
def test_a_kernel_of_its_own_does_what_the_common_one_does(hinge, monkeypatch):
    model = top(hinge=hinge)
    common = run(model, "compiled", h=0.01, t_end=0.5)
    monkeypatch.delenv("POINSOT_KERNELS")
    own = run(model, "compiled", h=0.01, t_end=0.5)
    np.testing.assert_allclose(own.position("top"), common.position("top"), rtol=0, atol=1e-14)
    assert own.stats.newton_iterations == common.stats.newton_iterations


def test_parts_that_a_mechanism_does_not_have_are_left_out(monkeypatch):
    assert all(getattr(machine(top(hinge=False)), part) is not None for part in OPTIONAL)
    monkeypatch.delenv("POINSOT_KERNELS")
    assert all(getattr(machine(top(hinge=False)), part) is None for part in OPTIONAL)
    hinged = machine(top(hinge=True))
    there = {part for part in OPTIONAL if getattr(hinged, part) is not None}
    assert there == {"rows", "dials", "dial_terms"}
