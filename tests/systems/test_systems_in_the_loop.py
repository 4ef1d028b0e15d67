"""Systems and laws of expressions inside the compiled loop: the steps of the reference engine."""

import numba
import numpy as np
import pytest
import sympy
from cranes import crane
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp

import poinsot as ps
from poinsot import ph
from poinsot.kernels.dense import solve_dense
from poinsot.kernels.laws import Law

ENGINES = ("reference", "compiled")
FORMS = [{}, {"scheme": "ph-mp-ggl"}, {"coordinates": "quaternions"}, {"coordinates": "rotations"}]


def arm() -> ps.Model:
    """Return a double pendulum on hinges, with a port at its tip."""
    model = ps.Model(gravity=(0, 0, -9.81))
    shape = ps.Box(mass=2, size=(1, 0.1, 0.1))
    upper = model.add_body("upper", shape, position=(0.5, 0, 0))
    lower = model.add_body("lower", shape, position=(1.5, 0, 0))
    model.add_joint("A", ps.Revolute(model.ground, upper, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_joint("B", ps.Revolute(upper, lower, point=(1, 0, 0), axis=(0, 1, 0)))
    model.add_port("tip", ps.ForcePort(lower, point=(2, 0, 0)))
    return model


def saturating_motor() -> ph.PHSystem:
    """Return a circuit whose coil saturates, with friction in its brushes."""
    flux = sympy.Symbol("flux")
    return ph.symbolic(
        "circuit",
        states={"flux": flux},
        H=250 * flux**2 + 4e3 * flux**4 + sympy.cosh(9 * flux),
        J=[[0]],
        R=[[1.2 + flux**2]],
        B=[[1, 1]],
        r=lambda z: [0.3 * sympy.tanh(z[0])],
        ports=[ph.Port("supply", 1, "V", "A"), ph.Port("coil", 1, "V", "A")],
    )


def with_motors() -> ps.Model:
    model = arm()
    for joint, k in (("A", 0.5), ("B", 0.3)):
        model.add_system(f"motor {joint}", saturating_motor())
        model.connect(ph.Gyrator(joint, f"motor {joint}.coil", C=-k, unit="N m/A"))
    model.connect(ph.Resistor("motor B.supply", 2.0))
    return model


def with_modulated_gyrator() -> ps.Model:
    """Return the arm with a system whose J and B depend on its state, in three directions."""
    model, x = arm(), sympy.symbols("a b c")
    a, b, c = x
    system = ph.symbolic(
        "top",
        states={"L": list(x)},
        H=a**2 / 2 + b**2 / 3 + c**2,
        J=[[0, -c, b], [c, 0, -a], [-b, a, 0]],
        B=sympy.diag(1 + a**2, sympy.exp(-(b**2)), 1),
        ports=[ph.Port("end", 3, "m/s", "N")],
    )
    model.add_system("top", system)
    model.connect(ph.Gyrator("tip", "top.end", C=3.0))
    return model


def with_pendulum() -> ps.Model:
    """Return the arm with a rotor of varying inertia behind a rigid connection."""
    model, (q, p) = arm(), sympy.symbols("q p")
    system = ph.symbolic(
        "swing",
        states={"q": q, "p": p},
        H=p**2 / (0.6 + 0.1 * sympy.cos(2 * q)) + 20 * (1 - sympy.cos(q)),
        J=[[0, 1], [-1, 0]],
        B=[[0], [1]],
        ports=[ph.Port("shaft", 1, "N m", "rad/s")],
    )
    model.add_system("swing", system)
    model.connect(ph.Transformer("B", "swing.shaft"))
    return model


def with_lagrangian() -> ps.Model:
    """Return the arm with a bead on a parabola at its tip: E depends on the state, and g acts."""
    model = arm()
    x, y = sympy.symbols("x y")
    bead = ps.LagrangianSystem.symbolic(
        "bead",
        q=[x, y],
        M=[[0.5 + 0.1 * x**2, 0], [0, 0.5]],
        V=4.9 * y + 3 * sympy.cos(x),
        a=[0.2 * y, 0],
        g=[y - x**2 / 2],
        B=[[1, 0, 0], [0, 0, 1]],
        ports=[ph.Port("end", 3, "N", "m/s")],
    )
    model.add_system("bead", bead.port_hamiltonian())
    spring = ph.linear(
        "spring",
        states=[ph.State("x", 3)],
        J=np.zeros((3, 3)),
        Q=40 * np.eye(3),
        B=np.hstack([np.eye(3), -np.eye(3)]),
        ports=[ph.Port("a", 3, "m/s", "N"), ph.Port("b", 3, "m/s", "N")],
    )
    model.add_system("spring", spring)
    model.connect(ph.Gyrator("tip", "spring.a"))
    model.connect(ph.Gyrator("bead.end", "spring.b"))
    return model


def with_joined_systems() -> ps.Model:
    """Return the arm with a motor that is joined of two circuits, one of them swapped."""
    model, charge = arm(), sympy.Symbol("charge")
    capacitor = ph.symbolic(
        "capacitor",
        states={"charge": charge},
        H=40 * charge**2 + 30 * charge**4,
        J=[[0]],
        R=[[0.1]],
        B=[[1, 1]],
        ports=[ph.Port("pole", 1, "A", "V"), ph.Port("leak", 1, "A", "V")],
    )
    joined = ph.interconnect(
        saturating_motor().prefixed("motor"),
        capacitor,
        connections=[ph.Gyrator("motor.supply", "pole"), ph.Resistor("leak", 0.2)],
    )
    model.add_system("drive", joined)
    model.connect(ph.Gyrator("A", "drive.motor.coil", C=-0.5, unit="N m/A"))
    swapped = ph.swap(saturating_motor(), "supply")
    model.add_system("brake", swapped)
    model.connect(ph.Gyrator("B", "brake.coil", C=-0.3, unit="N m/A"))
    return model


STARTS = {
    with_motors: {"motor A.flux": 0.3},
    with_modulated_gyrator: {"top.L": [0.3, -0.2, 0.1]},
    with_pendulum: {"swing.q": 0.4},
    with_joined_systems: {"drive.charge": 0.4},
    with_lagrangian: {"bead.q": [1.0, 0.5], "bead.v": [0.4, 0.4]},
}


def run(model: ps.Model, engine: str, **options: object) -> ps.Result:
    given = {"h": 2e-3, "t_end": 0.05} | options
    return ps.simulate(model, engine=engine, progress=False, **given)


def require_same(one: ps.Result, other: ps.Result, tolerance: float = 1e-11) -> None:
    """Compare bodies, and states of systems and controllers."""
    pairs = [(one[name], other[name]) for name in one.states if name.split(".")[0] in one.systems]
    for body in one.bodies:
        pairs += [(one.position(body), other.position(body))]
        pairs += [(one.rotation(body), other.rotation(body))]
    for a, b in pairs:
        np.testing.assert_allclose(b, a, rtol=0, atol=tolerance * (1 + abs(a).max()))


def calls_of_python(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that grows with every function of Python that the engine calls."""
    calls, made = list[int](), Law.__init__

    def counted(self: Law, function: object, *sizes: int) -> None:
        def answer(given: list[float], wanted: int) -> object:
            calls.append(wanted)
            return function(given, wanted)

        made(self, answer, *sizes)

    monkeypatch.setattr(Law, "__init__", counted)
    return calls


@pytest.mark.parametrize("build", STARTS, ids=lambda build: build.__name__)
def test_expressions_take_the_same_steps_in_machine_code(build, monkeypatch):
    calls = calls_of_python(monkeypatch)
    reference, compiled = (run(build(), engine, x0=STARTS[build]) for engine in ENGINES)
    assert compiled.engine == "compiled"
    assert compiled.stats.single_steps == 0
    assert not calls
    for result in (reference, compiled):
        scale = 1 + abs(result.energy).max() + result.dissipated[-1]
        assert result.stats.balance_error_max < 2e-14 * scale
    require_same(reference, compiled)
    for name in reference.ports:
        one, other = reference.port(name), compiled.port(name)
        np.testing.assert_allclose(other.energy, one.energy, rtol=0, atol=1e-11)


@pytest.mark.parametrize("options", FORMS)
def test_every_formulation_takes_them(options):
    results = [run(with_motors(), engine, **options) for engine in ENGINES]
    require_same(*results)
    assert results[1].stats.balance_error_max < 1e-13


def test_a_circuit_that_saturates_moves_as_its_equations_say():
    inertia, k, U = 2 * (1 + 0.1**2) / 12 + 2 * 0.5**2, 0.5, 12.0
    model = ps.Model()
    bar = model.add_body("bar", ps.Box(mass=2, size=(1, 0.1, 0.1)), position=(0.5, 0, 0))
    model.add_joint("A", ps.Revolute(model.ground, bar, point=(0, 0, 0), axis=(0, 1, 0)))
    model.add_system("motor", saturating_motor())
    model.connect(ph.Gyrator("A", "motor.coil", C=k, unit="N m/A"))

    def rates(t, x):
        rate, flux = x
        current = 500 * flux + 16e3 * flux**3 + 9 * np.sinh(9 * flux)
        lost = (1.2 + flux**2) * current + 0.3 * np.tanh(current)
        return -k * current / inertia, k * rate - lost + U * np.sin(10 * t)

    exact = solve_ivp(rates, (0, 0.2), [0, 0], method="Radau", rtol=1e-11, atol=1e-13).y[:, -1]

    def error(h):
        result = run(
            model, "compiled", h=h, t_end=0.2, inputs={"motor.supply": lambda t: U * np.sin(10 * t)}
        )
        found = result.angular_velocity("bar")[-1, 1], result["motor.flux"][-1]
        return abs(np.array(found) - exact).max()

    errors = error(5e-4), error(2.5e-4)
    assert errors[1] < 1e-5
    assert 3.5 < errors[0] / errors[1] < 4.5


@settings(max_examples=5)
@given(seed=st.integers(0, 10**6))
def test_random_systems_of_expressions_keep_the_balance_in_both_engines(seed):
    random = np.random.default_rng(seed)
    n, model = int(random.integers(1, 4)), arm()
    x = sympy.symbols(f"x:{n}")
    A, D, Q = random.standard_normal((3, n, n))
    bend = sympy.cos(x[-1])
    J = sympy.Matrix(A - A.T) * (1 + x[0] ** 2)
    H = (sympy.Matrix(x).T * sympy.Matrix(Q @ Q.T + np.eye(n)) * sympy.Matrix(x))[0] / 2
    system = ph.symbolic(
        "s",
        states={"x": list(x)},
        H=H + random.uniform(0, 3) * bend + x[0] ** 4,
        J=J,
        R=sympy.Matrix(D @ D.T),
        B=sympy.Matrix(random.standard_normal((n, 3))) * (2 + bend),
        ports=[ph.Port("a"), ph.Port("b"), ph.Port("free")],
    )
    model.add_system("s", system)
    model.connect(ph.Gyrator("A", "s.a", C=random.uniform(0.5, 2)))
    model.connect(ph.Gyrator("B", "s.b", C=random.uniform(0.5, 2)))
    free = {"inputs": {"s.free": lambda t: np.sin(30 * t)}, "t_end": 0.02}
    results = [run(model, engine, x0={"s.x": np.full(n, 0.3)}, **free) for engine in ENGINES]
    for result in results:
        scale = 1 + abs(result.energy).max() + abs(result.port("s.free").energy).max()
        assert result.stats.balance_error_max < 1e-13 * scale
    require_same(*results)


# -- laws ------------------------------------------------------------------------------------------

READS = ["rail", "rail.rate", "pin.angle", "tip.position", "rod.rotation", "rod.angular_velocity"]
SIZE = 3 + 3 + 9 + 3


def in_python(t, y, x):
    force = 5 * np.sin(5 * t) - 3 * y[0] - y[1] + 2 * y[2] - x[0] ** 3
    wind = -0.5 * y[3:6] + 2 * y[6:9] - 0.3 * y[15:18]
    return [0.2 * x[1], force, *wind], [y[0] - x[0], np.tanh(x[0]) - x[1]]


@numba.njit
def in_numba(t, y, x):
    u, dx = np.empty(5), np.empty(2)
    u[0] = 0.2 * x[1]
    u[1] = 5 * np.sin(5 * t) - 3 * y[0] - y[1] + 2 * y[2] - x[0] ** 3
    for k in range(3):
        u[2 + k] = -0.5 * y[3 + k] + 2 * y[6 + k] - 0.3 * y[15 + k]
    dx[0], dx[1] = y[0] - x[0], np.tanh(x[0]) - x[1]
    return u, dx


def in_formulas() -> list[str]:
    wind = [
        f"-0.5*tip_position_{k} + 2*rod_rotation_x{k} - 0.3*rod_angular_velocity_{k}" for k in "xyz"
    ]
    force = "5*sin(5*t) - 3*rail - rail_rate + 2*pin_angle - a**3"
    return ["0.2*b", force, *wind, "rail - a", "tanh(a) - b"]


LAWS = {"python": in_python, "numba": in_numba, "formulas": in_formulas()}
STATES = {"a": 0.3, "b": -0.1}


@pytest.mark.parametrize("options", FORMS[:3])
def test_a_law_is_the_same_however_it_is_written(options):
    runs = {
        (kind, engine): run(crane(law, READS, states=STATES), engine, t_end=0.03, **options)
        for kind, law in LAWS.items()
        for engine in ENGINES
        if kind != "numba" or engine == "compiled"
    }
    first = runs["formulas", "reference"]
    for result in runs.values():
        assert result.stats.single_steps == 0 or result.engine == "reference"
        assert result.stats.balance_error_max < 1e-13
        require_same(first, result)


def test_a_system_as_a_law_runs_in_machine_code(monkeypatch):
    calls, (x, v) = calls_of_python(monkeypatch), sympy.symbols("x v")
    law = ph.symbolic(
        "absorber",
        states={"x": x, "v": v},
        H=20 * x**2 + 5 * x**4 + v**2,
        J=[[0, 1], [-1, 0]],
        R=[[0, 0], [0, 0.3]],
        B=[[0], [1]],
        ports=[ph.Port("end")],
    )
    model = arm()
    model.add_controller("absorber", law, reads=["A.rate"], drives=["A"], limits=(-2.0, 2.0))
    results = [run(model, engine) for engine in ENGINES]
    require_same(*results)
    assert results[1].stats.balance_error_max < 1e-13
    assert not calls


def test_a_law_in_python_is_called_few_times_a_step(monkeypatch):
    calls, steps = calls_of_python(monkeypatch), 200
    model = arm()
    gains = np.array([[-3, -1, 0, 0], [0, 0, -2, -0.5]])
    model.add_controller(
        "pd", lambda t, y: gains @ y, reads=["A", "A.rate", "B", "B.rate"], drives=["A", "B"]
    )
    result = run(model, "compiled", h=1e-3, t_end=steps * 1e-3)
    assert result.stats.single_steps == 0
    assert len(calls) <= 4 * steps


def test_a_numba_law_may_return_a_tuple():
    model = arm()
    law = numba.njit(lambda t, y: (-3 * y[0] - y[1], -2.0 * y[1]))
    model.add_controller("pd", law, reads=["A", "A.rate"], drives=["A", "B"], every=1e-2)
    result = run(model, "compiled", h=1e-2)
    u, y = result.port("A").u[:, 0], result.joint("A")
    rates = y.rates["angle"][:-1]
    np.testing.assert_allclose(u, -3 * y.coordinates["angle"][:-1] - rates, rtol=0, atol=1e-12)


def test_limits_hold_inside_the_loop():
    def limited(law):
        model = arm()
        reads, drives = ["A", "A.rate"], ["A"]
        model.add_controller("pd", law, reads=reads, drives=drives, limits=(-0.5, 0.7))
        return model

    laws = "-30*A - 9*A_rate", lambda t, y: -30 * y[0] - 9 * y[1]
    one, other = (run(limited(law), "compiled", t_end=0.2) for law in laws)
    reference = run(limited(laws[0]), "reference", t_end=0.2)
    for result in (one, other):
        require_same(reference, result)
        assert result.port("A").u.max() <= 0.7
        assert result.port("A").u.min() == -0.5


def test_large_systems_with_a_law_are_not_written_out(monkeypatch):
    calls, n, model = calls_of_python(monkeypatch), 120, arm()
    tied = np.diag(np.ones(n - 1), 1)
    B = np.zeros((n, 2))
    B[0, 0] = B[-1, 1] = 1
    ports = [ph.Port("a"), ph.Port("b")]
    states = [ph.State("x", n)]
    chain = ph.linear("chain", states=states, J=tied - tied.T, Q=np.eye(n), B=B, ports=ports)
    monkeypatch.setattr(type(chain), "operations", property(lambda self: 1 / 0))
    model.add_system("chain", chain)
    model.connect(ph.Gyrator("A", "chain.a", C=0.3))
    model.add_controller("law", "sin(A)", reads=["A"], drives=["chain.b"])
    results = [run(model, engine, h=1e-2, t_end=0.05) for engine in ENGINES]
    require_same(*results)
    assert calls


# -- kernels ---------------------------------------------------------------------------------------


@given(seed=st.integers(0, 10**6), n=st.integers(1, 6))
def test_equations_are_solved_as_by_lapack_whatever_their_units(seed, n):
    random = np.random.default_rng(seed)
    units = 10.0 ** random.uniform(-12, 12, n)
    A, B = random.standard_normal((n, n)) + 3 * np.eye(n), random.standard_normal((n, 2))
    both = np.hstack(
        [np.nan * np.ones(5), np.hstack([units[:, None] * A, units[:, None] * B]).ravel()]
    )
    solve_dense(both, 5, n, n + 2)
    found = both[5:].reshape(n, n + 2)[:, n:]
    exact = np.linalg.solve(A, B)
    np.testing.assert_allclose(
        found, exact, rtol=0, atol=1e-13 * np.linalg.cond(A) * abs(exact).max()
    )


def test_singular_equations_have_no_solution():
    both = np.array([1.0, 2.0, 1.0, 2.0, 4.0, 1.0])
    solve_dense(both, 0, 2, 3)
    assert not np.isfinite(both[[2, 5]]).all()
