"""Laws that are Numba functions are machine code, and do what the same Python functions do."""

import numba
import numpy as np
import pytest
from in_turn import in_turn

import poinsot as ps
from poinsot.parts import struts
from poinsot.parts.elastic import ByEnergy, mean_by_energy
from poinsot.parts.numba_laws import translated


def energy(x):
    return 1.5 * x**4 - np.cos(x)


def force(x):
    return 6 * x**3 + np.sin(x)


def stiffness(x):
    return 18 * x**2 + np.cos(x)


def drag(v):
    return 0.1 * v**3


def drag_slope(v):
    return 0.3 * v**2


def motor(t, x, v):
    return np.sin(t) - 0.2 * x - 0.1 * v


def spring(**laws):
    return lambda translate: ps.JointSpring(
        "hinge", **{name: translate(law) for name, law in laws.items()}
    )


PARTS = {
    "force": spring(force=force),
    "potential": spring(potential=energy),
    "potential, force": spring(potential=energy, dpotential=force),
    "potential, force, stiffness": spring(
        potential=energy, dpotential=force, ddpotential=stiffness
    ),
    "damper": spring(law=drag),
    "damper, slope": spring(law=drag, dlaw=drag_slope),
    "motor": lambda translate: ps.JointPort("hinge", law=translate(motor)),
}
FORMULATIONS = [
    ("directors", "ph-mp"),
    ("quaternions", "eml"),
    ("rotations", "ph-mp"),
    ("directors", "ph-mp-ggl"),
]


def run(part, coordinates="directors", scheme="ph-mp", engine="compiled"):
    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body("bar", ps.Box(mass=2.0, size=(1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    add = model.add_port if isinstance(part, ps.JointPort) else model.add_force
    add("law", part)
    return ps.simulate(
        model, coordinates=coordinates, scheme=scheme, engine=engine, h=0.01, t_end=0.5
    )


def in_python_only(*_):
    raise AssertionError("a law is called by Python")


@pytest.mark.parametrize(("part", "formulation"), in_turn(PARTS, FORMULATIONS))
def test_a_numba_law_is_machine_code_and_moves_things_as_its_python_function(
    part, formulation, monkeypatch
):
    python = run(PARTS[part](lambda law: law), *formulation)
    monkeypatch.setattr(struts, "Law", in_python_only)
    own = run(PARTS[part](numba.njit), *formulation)
    assert own.stats.single_steps == python.stats.single_steps == 0
    assert np.allclose(own.position("bar"), python.position("bar"), rtol=0, atol=1e-12)
    assert own.stats.balance_error_max <= 1e-13 * 20


def test_a_law_that_numba_cannot_translate_is_called_by_python():
    odd = numba.njit(lambda t, x, v: np.array([np.sin(t) - 0.2 * x - 0.1 * v]))
    own, python = run(ps.JointPort("hinge", law=odd)), run(ps.JointPort("hinge", law=motor))
    assert np.allclose(own.position("bar"), python.position("bar"), rtol=0, atol=1e-12)


def test_a_numba_law_that_fails_is_named():
    @numba.njit
    def failing(t, x, v):
        return np.nan if t > 0.2 else 0.0

    with pytest.raises(ps.SimulationError, match=r"port 'law': its law gives nan at t = 0.205"):
        run(ps.JointPort("hinge", law=failing))


@pytest.mark.parametrize("width", [0.0, 1e-9, 1e-3, 0.7])
def test_translated_functions_find_the_same_numbers(width):
    V = numba.njit(energy)
    found = translated(mean_by_energy)(V, 1.0, 0.4, width)
    assert np.allclose(found, ByEnergy(energy, 1.0).mean_and_slope(0.4, width), rtol=1e-11)
