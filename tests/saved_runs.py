"""Runs of all kinds whose results are saved, loaded and damaged."""

import mechanisms
import pytest
from parts import mass, oscillator, spring

import poinsot as ps
from poinsot import ph


def chain():
    """Bodies, markers, springs, dampers, motors and loads; angles and displacements."""
    model = mechanisms.full(
        5, bodies=3, kinds=("Revolute", "Cylindrical", "Universal", "Planar")
    ).model()
    body = next(iter(model.bodies.values()))
    model.add_marker("tip", body, position=(0.1, 0.2, 0.3))
    return ps.simulate(model, h=0.05, t_end=1.0, engine="reference")


def stabilised():
    model = mechanisms.full(8, bodies=2).model()
    return ps.simulate(model, h=0.05, t_end=0.5, scheme="ph-mp-ggl", engine="reference")


def quaternions(scheme="eml"):
    model = mechanisms.full(8, bodies=2, kinds=("Revolute", "Cylindrical")).model()
    model.add_marker("tip", model.bodies["body0"], position=(0.1, 0.2, 0.3))
    return ps.simulate(model, h=0.02, t_end=0.2, scheme=scheme, engine="reference")


def momenta():
    """In quaternions, without velocities."""
    return quaternions("emh-mean")


def free():
    """No joints and no ports."""
    model = ps.Model(gravity=(0, 0, -9.81))
    model.add_body("brick", ps.Box(mass=1, size=(1, 2, 3)), angular_velocity=(1, 2, 3))
    return ps.simulate(model, h=0.1, t_end=1.0, engine="reference")


def train():
    """Ports that are open, fed and connected."""
    system = ph.interconnect(
        mass(), spring(), connections=ph.Gyrator("mass.force", "spring.end"), name="train"
    )
    return ps.simulate(system, h=0.1, t_end=1.0, x0=[1.0, 0.5])


def interrupted():
    def force(t):
        if t > 0.3:
            raise KeyboardInterrupt
        return 0.0

    force = {"oscillator.force": force}
    return ps.simulate(oscillator(), h=0.1, t_end=1, x0=[1, 0], inputs=force)


def at_once():
    """A run that failed in its first step: there is the start, and no midpoint."""

    def force(t):
        if t > 0:
            raise ValueError("no " + 1000 * "way, ")
        return 0.0

    force = {"oscillator.force": force}
    with pytest.raises(ps.SimulationError) as error:
        ps.simulate(oscillator(), h=0.1, t_end=1, x0=[1, 0], inputs=force)
    return error.value.result
