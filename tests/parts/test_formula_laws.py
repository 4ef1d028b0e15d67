"""Laws by formulas are those of the functions that they write, in machine code."""

import numpy as np
import pytest
from engines import both
from in_turn import in_turn

import poinsot as ps
from poinsot.parts.field_formulas import FieldFormula
from poinsot.ph.graphs import Program

FORMULATIONS = [
    ("directors", "ph-mp"),
    ("directors", "ph-mp-ggl"),
    ("quaternions", "eml"),
    ("quaternions", "emh-mean"),
    ("rotations", "ph-mp"),
]

#: Laws of the angle of a hinge, as formulas and as functions.
LAWS = {
    "potential": (
        {"potential": ps.Formula("3*x**4 - cos(x)", "x")},
        {"potential": lambda x: 3 * x**4 - np.cos(x)},
    ),
    "force": (
        {"force": ps.Formula("4*x**3 + sin(3*x)", "x")},
        {"force": lambda x: 4 * x**3 + np.sin(3 * x)},
    ),
    "force with a corner": (
        {"force": ps.Formula("20*max(x - 0.1, 0) + x", "x")},
        {"force": lambda x: 20 * max(x - 0.1, 0) + x},
    ),
    "potential with a corner": (
        {"potential": ps.Formula("10*max(x - 0.1, 0)**2", "x")},
        {"potential": lambda x: 10 * max(x - 0.1, 0) ** 2},
    ),
    "damper": (
        {"law": ps.Formula("0.1*v**3", "v"), "damping": 0.2},
        {"law": lambda v: 0.1 * v**3, "damping": 0.2},
    ),
}
FEEDBACK = ps.Formula("-2*sin(x) - 0.1*v + cos(t)", ("t", "x", "v"))


def arm(law=None, feedback=None, pull=None):
    model = ps.Model(gravity=(0, 0, -9.81))
    bar = model.add_body("bar", ps.Box(mass=2.0, size=(1.0, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("hinge", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    if law is not None:
        model.add_force("spring", ps.JointSpring("hinge", **law))
    if feedback is not None:
        model.add_port("motor", ps.JointPort("hinge", law=feedback))
    if pull is not None:
        model.add_force("rope", ps.Spring(model.ground, bar, (0, 0, 0.5), (1, 0, 0), **pull))
    return model


def energies_agree(model, coordinates, scheme):
    """Run both engines; return the compiled one, whose energy balance is exact."""
    options = {"h": 0.01, "t_end": 0.1, "coordinates": coordinates, "scheme": scheme}
    results = both(model, **options)
    for result in results:
        assert result.stats.balance_error_max < 1e-12
    compiled, reference = results
    np.testing.assert_allclose(compiled.position("bar"), reference.position("bar"), atol=1e-12)
    np.testing.assert_allclose(compiled.energy, reference.energy, atol=1e-12)
    assert compiled.stats.single_steps == 0
    return compiled


@pytest.mark.parametrize(("name", "formulation"), in_turn(LAWS, FORMULATIONS, times=2))
def test_a_formula_is_the_law_that_it_writes_with_exact_energy(name, formulation):
    coordinates, scheme = formulation
    written, function = LAWS[name]
    by_formula = energies_agree(arm(written), coordinates, scheme)
    by_function = ps.simulate(
        arm(function), h=0.01, t_end=0.1, coordinates=coordinates, scheme=scheme, engine="compiled"
    )
    np.testing.assert_allclose(
        by_formula.position("bar"), by_function.position("bar"), rtol=0, atol=1e-11
    )
    assert by_function.stats.balance_error_max < 1e-12


@pytest.mark.parametrize(("coordinates", "scheme"), FORMULATIONS)
def test_a_motor_by_a_formula_is_one_by_a_function(coordinates, scheme):
    def function(t, x, v):
        return -2 * np.sin(x) - 0.1 * v + np.cos(t)

    a, b = (energies_agree(arm(feedback=law), coordinates, scheme) for law in (FEEDBACK, function))
    np.testing.assert_allclose(a.position("bar"), b.position("bar"), rtol=0, atol=1e-11)


@pytest.mark.parametrize("pull", [{"force": "50*(x - 1) - 1/x**2"}, {"potential": "25*x**2 + 1/x"}])
def test_a_rope_by_a_formula_keeps_its_energy(pull):
    laws = {label: ps.Formula(text, "x") for label, text in pull.items()}
    energies_agree(arm(pull=laws), "directors", "ph-mp")


#: Fields of a point and a direction of the bar, as formulas and as functions.
FIELDS = {
    "smooth": (
        "(x**2 + 2*y**2 + (z - 0.5)**2)**2 + sin(a*x)*c + exp(b)",
        lambda p, d: (
            (p[0] ** 2 @ (1, 2, 1) - p[0, 2] + 0.25) ** 2
            + np.sin(d[0, 0] * p[0, 0]) * d[0, 2]
            + np.exp(d[0, 1])
        ),
    ),
    "with a corner": (
        "20*max(-z - 0.02, 0)**2 + 0.5*a + 0*b*c*x*y",
        lambda p, d: 20 * max(-p[0, 2] - 0.02, 0) ** 2 + 0.5 * d[0, 0],
    ),
}


def in_field(potential, **gradient):
    model = arm()
    bar = model.bodies["bar"]
    at = {"points": [(bar, (1, 0, 0))], "directions": [(bar, (0, 0.6, 0.8))]}
    model.add_force("field", ps.Field(potential, **at, **gradient))
    return model


@pytest.mark.parametrize(("formulation", "name"), in_turn(FORMULATIONS, FIELDS))
def test_a_field_by_a_formula_is_the_one_that_it_writes_with_exact_energy(name, formulation):
    coordinates, scheme = formulation
    text, function = FIELDS[name]
    options = {"h": 0.01, "t_end": 0.06, "coordinates": coordinates, "scheme": scheme}
    runs = both(in_field(ps.Formula(text, "xyzabc")), **options)
    runs += (ps.simulate(in_field(function), engine="compiled", **options),)
    for result in runs:
        assert result.stats.balance_error_max < 1e-12
        np.testing.assert_allclose(result.position("bar"), runs[0].position("bar"), atol=1e-10)


def test_slopes_of_a_field_by_a_formula_are_those_of_its_discrete_gradient():
    formula, weights = ps.Formula(FIELDS["smooth"][0], "xyzabc"), (1.0, 1.0, 1.0, 0.3, 0.3, 0.3)
    law, random = FieldFormula(formula, weights), np.random.default_rng(0)
    a0, a1 = random.standard_normal((2, 6))
    for end in (a1, a0 + 1e-3 * a1, a0):
        at = np.concatenate([a0, end])
        z, dz = np.split(law.machine_code(at, 1), [6])
        assert z @ (end - a0) == pytest.approx(law.V(end) - law.V(a0), abs=1e-14)
        columns = []
        for unit in np.eye(6):
            ahead, behind = (
                law.machine_code(np.concatenate([a0, end + s * unit])) for s in (1e-5, -1e-5)
            )
            columns.append((ahead - behind) / 2e-5)
        np.testing.assert_allclose(dz.reshape(6, 6).T, columns, atol=1e-6 * abs(dz).max())


def test_a_field_by_a_formula_of_other_variables_is_refused():
    with pytest.raises(ps.InputError, match=r"is of \(x, y\); it must be one formula of the 6"):
        in_field(ps.Formula("x*y", "xy"))
    with pytest.raises(ps.InputError, match="gradient of a formula is exact"):
        in_field(ps.Formula("x", "xyzabc"), gradient=lambda p, d: (p, d))


@pytest.mark.parametrize("law", [*(written for written, _ in LAWS.values()), None])
def test_python_does_not_evaluate_formulas_step_by_step(law, monkeypatch):
    evaluated, evaluate = [], Program.__call__
    monkeypatch.setattr(
        Program, "__call__", lambda self, *a: evaluated.append(self) or evaluate(self, *a)
    )

    def evaluations(steps):
        model = arm(law, FEEDBACK if law is None else None)
        evaluated.clear()
        ps.simulate(model, h=0.01, t_end=0.01 * steps, engine="compiled", save_every=steps)
        return len(evaluated)

    # The energies of some hundred states, at which a run checks itself, are Python's in any case.
    assert evaluations(4096) < 3 * evaluations(256)


def test_a_formula_that_is_no_number_stops_the_run_by_name():
    model = arm(feedback=ps.Formula("log(0.05 - t) + 0*x*v", ("t", "x", "v")))
    with pytest.raises(
        ps.SimulationError, match=r"port 'motor': its law gives nan at t = 0\.055 s"
    ):
        ps.simulate(model, h=0.01, t_end=0.2, engine="compiled")


def test_a_formula_of_other_variables_is_refused_by_name():
    model = arm(feedback=ps.Formula("2*x", "x"))
    with pytest.raises((ps.InputError, ps.SimulationError), match=r"a function of \(x\)"):
        ps.simulate(model, h=0.01, t_end=0.2, engine="compiled")
