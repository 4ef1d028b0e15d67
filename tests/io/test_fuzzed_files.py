"""Whatever is done to a model file: a model, or errors of Poinsot, soon, and nothing is executed.

The corpus are files with all features, `everything.yaml`, and small ones that run; keep what once
broke something in `corpus/`. `pytest tests/io/test_fuzzed_files.py --attack 1000` tries more.
"""

import copy
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import poinsot as ps

HERE = Path(__file__).parent
SMALL = sorted((HERE / "corpus").glob("*.yaml"))
FILES = [HERE / "everything.yaml", *SMALL]
#: A file is read, and its model checked and run for a few steps, within this [s].
SOON = 20.0
OWNED = Path("owned-by-a-model-file")
#: What nobody should write in a model file, but somebody will.
NASTY = [
    None,
    True,
    0,
    -1,
    1e-300,
    1e99,
    float("inf"),
    float("nan"),
    "",
    "ground",
    "a" * 1000,
    "\x00",
    "\u202e",
    "t",
    "1/0",
    "x**x**x**9",
    "9**9**9**9**9",
    "(" * 50 + "x" + ")" * 50,
    f"__import__('pathlib').Path('{OWNED}').touch()",
    f"(lambda: open('{OWNED}', 'w'))()",
    "t.__class__.__mro__",
    "[].append(1)",
    [],
    {},
    [[[[]]]],
    [1e9, -1e9, 0],
    [0, 0, 0],
    {"sphere": {"mass": 1, "radius": 1}},
]
TAGS = [
    "!!python/object/apply:os.system",
    "!!python/name:os.system",
    "!!set",
    "!",
    "&a *a",
    "<<: *a",
]


def places(tree, path=()):
    """Yield the path of every value."""
    yield path
    if isinstance(tree, dict | list):
        for key, value in tree.items() if isinstance(tree, dict) else enumerate(tree):
            yield from places(value, (*path, key))


def mutated(tree, random):
    """Change a few values: to nasty ones, away, twice, by another one's name or value."""
    tree = copy.deepcopy(tree)
    for _ in range(int(random.integers(1, 4))):
        paths = [path for path in places(tree) if path]
        if not paths:
            break
        *way, last = paths[random.integers(len(paths))]
        inside = _at(tree, way)
        kind = random.integers(6)
        if kind == 0:
            del inside[last]
        elif kind == 1:
            inside[last] = copy.deepcopy(_at(tree, paths[random.integers(len(paths))]))
        elif kind == 2 and isinstance(inside, dict):
            inside[str(paths[random.integers(len(paths))][-1])] = inside.pop(last)
        elif kind == 3 and isinstance(inside[last], int | float):
            inside[last] = inside[last] * float(random.choice([-1, 0, 1e-9, 1e9, 1.001]))
        else:
            inside[last] = copy.deepcopy(NASTY[random.integers(len(NASTY))])
    return tree


def _at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def scrambled(text, random):
    """Change a few characters or lines of a text, or put a tag in it."""
    for _ in range(int(random.integers(1, 4))):
        lines = text.splitlines(keepends=True) or [""]
        at, k = int(random.integers(len(text) + 1)), int(random.integers(len(lines)))
        kind = random.integers(5)
        if kind == 0:
            text = text[:at] + text[at + int(random.integers(1, 20)) :]
        elif kind == 1:
            text = text[:at] + str(random.choice(list("{}[]:,-&*!#|>'\"%@` \n\t0e"))) + text[at:]
        elif kind == 2:
            text = "".join([*lines[:k], *lines[k + 1 :]])
        elif kind == 3:
            text = "".join([*lines[: k + 1], lines[k], *lines[k + 1 :]])
        else:
            text = text[:at] + TAGS[random.integers(len(TAGS))] + " " + text[at:]
    return text


def attempt(text, *, runs):
    """Read a text, check its model, and run it in two ways; every refusal is one of Poinsot's."""
    began = time.perf_counter()
    try:
        model = ps.Model.from_yaml_text(text)
        model.check()
        if runs:
            _run(model)
    except ps.PoinsotError:
        pass
    assert time.perf_counter() - began < SOON
    assert not OWNED.exists()


def _run(model):
    """A few steps in both engines, and once more in quaternions, agree."""
    options = {"scheme": "ph-mp", "coordinates": "directors", "h": 1e-3, "t_end": 4e-3}
    ends = []
    for engine in ("reference", "compiled"):
        result = ps.simulate(model, engine=engine, **options)
        ends.append(np.array([result.position(name)[-1] for name in model.bodies]))
        if result.status != "done":
            return
    size = max(1.0, abs(ends[0]).max())
    assert abs(ends[0] - ends[1]).max() <= 1e-7 * size


def tries(request, few):
    """How many examples, and whether to shrink what fails."""
    many = request.config.getoption("--attack")
    phases = [Phase.explicit, Phase.generate, *[Phase.shrink] * (many is not None)]
    return settings(
        max_examples=many or few,
        phases=phases,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
@pytest.mark.parametrize("change", ["values", "text"])
@pytest.mark.filterwarnings("ignore")
def test_a_changed_file_is_a_model_or_refused(path, change, request, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    tree = yaml.safe_load(text)

    def law(seed):
        random = np.random.default_rng(seed)
        if change == "values":
            attempt(yaml.safe_dump(mutated(tree, random), sort_keys=False), runs=path in SMALL)
        else:
            attempt(scrambled(text, random), runs=path in SMALL)

    few = 12 if path in SMALL else 4
    tries(request, few)(given(seed=st.integers(0, 2**32 - 1))(law))()


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_the_corpus_runs_alike_in_both_engines(path):
    _run(ps.Model.from_yaml(path))
