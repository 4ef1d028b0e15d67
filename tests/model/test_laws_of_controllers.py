"""Laws of controllers with states: state spaces, port-Hamiltonian systems, formulas, SymPy."""

import control
import numpy as np
import pytest
import scipy.signal
import sympy

import poinsot as ps

ENGINES = ("reference", "compiled")
MASS, EVERY = 2.0, 0.02
#: A lead compensator of the displacement, and a damper.
A, B = np.array([[-8.0, 1.0], [0.0, -3.0]]), np.array([[0.0, 0.5], [2.0, 0.0]])
C, D = np.array([[3.0, 1.0]]), np.array([[-30.0, -6.0]])


def slide(law, **options) -> ps.Model:
    """Return a mass on a rail that a controller holds; it starts with 1 m/s."""
    model = ps.Model()
    cart = model.add_body("cart", ps.Box(mass=MASS, size=(1, 1, 1)), velocity=(1, 0, 0))
    model.add_joint("rail", ps.Prismatic(model.ground, cart, point=(0, 0, 0), axis=(1, 0, 0)))
    given = {"reads": ["rail", "rail.rate"], "drives": ["rail"], "every": EVERY}
    model.add_controller("hold", law, **given | options)
    return model


def motion(model: ps.Model, engine: str = "compiled", h: float = EVERY / 2) -> np.ndarray:
    """Return displacement and rate at samples; (samples, 2)."""
    result = ps.simulate(model, h=h, t_end=1.0, engine=engine)
    assert result.engine == engine
    assert result.stats.balance_error_max < 1e-13
    rail, each = result.joint("rail"), round(EVERY / h)
    one, other = rail.coordinates["displacement"], rail.rates["displacement"]
    return np.array([one[::each], other[::each]]).T


CONTINUOUS = scipy.signal.StateSpace(A, B, C, D)
SAMPLED = scipy.signal.cont2discrete((A, B, C, D), EVERY)[:4]
STATE_SPACES = {
    "SciPy": CONTINUOUS,
    "SciPy, sampled": CONTINUOUS.to_discrete(EVERY),
    "python-control": control.ss(A, B, C, D),
    "python-control, sampled": control.ss(A, B, C, D).sample(EVERY),
    "python-control, of any time": control.ss(*SAMPLED, True),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", STATE_SPACES)
def test_a_sampled_state_space_moves_a_mass_as_the_discrete_closed_loop(kind, engine):
    plant = scipy.signal.StateSpace([[0, 1], [0, 0]], [[0], [1 / MASS]], np.eye(2), [[0], [0]])
    P, K = plant.to_discrete(EVERY), CONTINUOUS.to_discrete(EVERY)
    loop = np.block([[P.A + P.B @ K.D, P.B @ K.C], [K.B, K.A]])
    state, expected = np.array([0.0, 1.0, 0.0, 0.0]), []
    for _ in range(51):
        expected.append(state[:2])
        state = loop @ state
    found = motion(slide(STATE_SPACES[kind]), engine)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


def test_a_large_state_space_gives_the_same_as_a_small_one():
    n = 40
    large = np.zeros((n, n))
    large[:2, :2], large[2:, 2:] = A, -np.eye(n - 2)
    B_, C_ = np.zeros((n, 2)), np.zeros((1, n))
    B_[:2], C_[:, :2] = B, C
    found = motion(slide(scipy.signal.StateSpace(large, B_, C_, D)))
    np.testing.assert_allclose(found, motion(slide(CONTINUOUS)), rtol=0, atol=1e-13)


def test_a_transfer_function_of_scipy_is_a_law():
    found = motion(slide(scipy.signal.TransferFunction([-30, -90], [1, 9]), reads=["rail"]))
    states = slide(control.ss(control.tf([-30, -90], [1, 9])), reads=["rail"])
    np.testing.assert_allclose(found, motion(states), rtol=0, atol=1e-12)


def test_a_linear_system_is_a_law_by_negative_feedback():
    system = ps.ph.linear(
        "spring with dashpot",
        states=["x"],
        J=[[0.0]],
        R=[[0.1]],
        Q=[[40.0]],
        B=[[1.0]],
        ports=[ps.ph.Port("end")],
    )
    found = motion(slide(system, reads=["rail.rate"]))
    by_hand = scipy.signal.StateSpace([[-4.0]], [[1.0]], [[-40.0]], [[0.0]])
    np.testing.assert_allclose(found, motion(slide(by_hand, reads=["rail.rate"])), atol=1e-13)


def test_a_nonlinear_system_is_a_law_of_python():
    x = sympy.Symbol("x")
    system = ps.ph.symbolic(
        "hard spring",
        states={"x": x},
        H=10 * x**2 + 30 * x**4,
        J=[[0]],
        B=[[1]],
        ports=[ps.ph.Port("end")],
    )

    def law(t, y, x):
        return -20 * x - 120 * x**3, x + EVERY * y

    found = motion(slide(system, reads=["rail.rate"], states={"x": 0.1}))
    expected = motion(slide(law, reads=["rail.rate"], states=[0.1]))
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_sympy_formulas_and_functions_with_states_give_the_same_motion():
    def law(t, y, x):
        pull = -20 * x[0] - 10 * max(y[0], 0.01) * np.cos(t)
        return pull, x + EVERY * y[0] / np.sqrt(1 + y[1] ** 2)

    rail, rate, t, s = sympy.symbols("rail rail_rate t s")
    symbols = [
        -20 * s - 10 * sympy.Max(rail, sympy.Rational(1, 100)) * sympy.cos(t),
        s + EVERY * rail / sympy.sqrt(1 + rate**2),
    ]
    texts = ["-20*s - 10*max(rail, 0.01)*cos(t)", f"s + {EVERY}*rail/sqrt(1 + rail_rate**2)"]
    expected = motion(slide(law, states=[0.2]))
    for engine in ENGINES:
        for given in (symbols, sympy.Matrix(symbols), texts):
            found = motion(slide(given, states={"s": 0.2}), engine)
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", ["formula", "sympy", "state space", "sampled"])
def test_a_controller_comes_back_from_a_file_as_it_was(kind):
    rail, s = sympy.symbols("rail s")
    pieces = sympy.Piecewise((-2 * rail, (rail > 0) & (s > 0)), (sympy.Abs(rail) * s, True))
    laws = {
        "formula": (["-20*rail - 3*s", "s + 0.02*rail_rate"], {"states": {"s": 1.0}}),
        "sympy": ([pieces, s + rail / 3], {"states": {"s": 1.0}, "limits": (-1, 2)}),
        "state space": (CONTINUOUS, {"rate_limits": 50.0}),
        "sampled": (CONTINUOUS.to_discrete(EVERY), {"delay": EVERY, "states": [0.1, 0.2]}),
    }
    law, options = laws[kind]
    model = slide(law, **options)
    text = model.to_yaml()
    again = ps.Model.from_yaml_text(text)
    assert again.to_yaml() == text
    np.testing.assert_array_equal(motion(again), motion(model))


SINGULAR = {"states": ["a", "b"], "J": [[0, 1], [-1, 0]], "Q": np.eye(2), "E": np.diag([1, 0])}


@pytest.mark.parametrize(
    ("law", "options", "message"),
    [
        (CONTINUOUS.to_discrete(0.01), {}, "with a sampling time of 0.01 s, but every is 0.02 s"),
        (CONTINUOUS, {"reads": ["rail"]}, "its law takes 2 number(s), but 1 are read"),
        (CONTINUOUS, {"states": [1.0]}, "1 states were given, but its law has 2"),
        (["rail", "s"], {}, "unknown name 's'"),
        ("rail", {"states": {"s": 0}}, "1 formula(s) for 1 output(s) and 1 state(s)"),
        (sympy.Symbol("speed"), {}, "unknown symbol 'speed'"),
        (sympy.erf(sympy.Symbol("rail")), {}, "formulas do not support SymPy's erf"),
        (
            ps.ph.linear("gate", B=[[1], [0]], ports=[ps.ph.Port("a")], **SINGULAR),
            {"reads": ["rail"]},
            "system 'gate' has states without a derivative (E is singular)",
        ),
    ],
)
def test_a_law_that_does_not_fit_is_refused(law, options, message):
    with pytest.raises(ps.InputError) as raised:
        ps.simulate(slide(law, **options), h=EVERY, t_end=1)
    assert "controller 'hold'" in str(raised.value)
    assert message in str(raised.value)


def test_a_controller_that_does_not_fit_is_refused_with_its_line():
    text = slide("-rail").to_yaml()
    for wrong, message in (
        (text.replace("-rail", "-rial"), "unknown name 'rial'"),
        (text.replace("every: 0.02", "evry: 0.02"), "unknown key 'evry'"),  # codespell:ignore
        (text.replace('["-rail"]', "-3"), "law"),
    ):
        with pytest.raises(ps.ModelFileError) as raised:
            ps.Model.from_yaml_text(wrong)
        assert "controllers.hold" in str(raised.value)
        assert message in str(raised.value)
