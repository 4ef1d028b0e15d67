"""All three forms of a Lagrangian are port-Hamiltonian, with exact tangents."""

import numpy as np
import pytest
from lagrangians import CASES, REGULAR, states
from numerics import jacobian

import poinsot as ps

FORMS = [
    (name, form)
    for name in CASES
    for form in ("livens", "port_hamiltonian", *(["hamiltonian"] if name in REGULAR else []))
]


def points(name, form):
    """Return a form and some of its consistent states, with random multipliers."""
    make, start = CASES[name]
    own = make()
    system = getattr(own, form)()
    random = np.random.default_rng(1)
    found = []
    for q, v in states(own, start):
        x = system.state({"q": q, "v": v})
        x[x.size - own.lagrangian.m :] = random.standard_normal(own.lagrangian.m)
        found.append(x)
    return system, found


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_the_contract_holds_at_random_states(name, form):
    system, found = points(name, form)
    for x in found:
        defects = system.defects(x)
        assert defects.holds(1e-8), defects


@pytest.mark.parametrize(("name", "form"), FORMS)
def test_tangents_are_those_of_finite_differences(name, form):
    system, found = points(name, form)
    random = np.random.default_rng(2)
    for x in found:
        z, a, u = (random.standard_normal(k) for k in (system.n, system.n, system.m))

        def there(tangent, rows):
            return np.zeros((rows, system.n)) if tangent is None else np.asarray(tangent)

        def close(tangent, f, rows=system.n, x=x, there=there):
            expected = jacobian(f, x) if rows else np.zeros((0, system.n))
            size = max(1.0, abs(expected).max(initial=0.0))
            np.testing.assert_allclose(there(tangent, rows), expected, rtol=0, atol=1e-8 * size)

        close(system.dz(x), system.z)
        close(system.dflow(x, z, u), lambda at, z=z, u=u: system.flow(at, z, u))
        close(system.dE(x, a), lambda at, a=a: np.asarray(system.E(at) @ a))
        close(system.dy(x, z), lambda at, z=z: system.y(at, z), system.m)


@pytest.mark.parametrize("name", CASES)
def test_the_gyroscopic_block_is_the_rate_of_mass_minus_twice_coriolis(name):
    make, start = CASES[name]
    own = make()
    system, law = own.port_hamiltonian(), own.lagrangian
    n = law.n
    for q, v in states(own, start):
        block = np.asarray(system.J(system.state({"q": q, "v": v})))[n : 2 * n, n : 2 * n]
        dM = jacobian(law.M, q)
        christoffel = (dM + np.swapaxes(dM, 1, 2) - np.transpose(dM, (2, 1, 0))) / 2
        C, rate = np.einsum("ijk,k->ij", christoffel, v), np.einsum("ijk,k->ij", dM, v)
        np.testing.assert_array_equal(block, -block.T)
        np.testing.assert_allclose(block, rate - 2 * C, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_every_form_has_the_same_energy_at_a_start(name):
    make, start = CASES[name]
    own = make()
    forms = [own.livens(), own.port_hamiltonian()]
    forms += [own.hamiltonian()] if name in REGULAR else []
    energies = [system.H(system.state(start)) for system in forms]
    np.testing.assert_allclose(energies, own.total_energy(start["q"], start["v"]), rtol=1e-14)


def test_states_are_named_and_have_units():
    import sympy

    a = sympy.Symbol("a")
    own = ps.LagrangianSystem.symbolic("s", q=[a], M=[[1]], units={"q": "rad", "p": "N m s"})
    assert [(s.name, s.unit) for s in own.livens().states] == [
        ("q", "rad"),
        ("v", None),
        ("p", "N m s"),
    ]


def test_a_velocity_without_mass_is_algebraic_in_the_velocity_form():
    import sympy

    a, b = sympy.symbols("a b")
    own = ps.LagrangianSystem.symbolic(
        "s", q=[a, b], M=[[1 + a**2, 0], [0, 0]], V=b**2, g=[b - 2 * a]
    )
    assert own.port_hamiltonian().algebraic.tolist() == [False, False, False, True, True]
