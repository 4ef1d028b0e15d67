"""Every Python block of README.md and docs/ is a test; a document is one namespace."""

import os
from collections import Counter
from contextlib import ExitStack, chdir
from importlib.util import find_spec
from tempfile import TemporaryDirectory

import pytest
from sybil import Sybil
from sybil.parsers.myst import PythonCodeBlockParser
from xdist.scheduler import LoadScopeScheduling

os.environ["MPLBACKEND"] = "Agg"
# Small matrices gain nothing from threads, and two workers with two threads each lose a lot.
os.environ["OPENBLAS_NUM_THREADS"] = "1"

# Pages about another program run its code, where there is one for this platform.
MISSING = [peer for peer in ("exudyn", "mujoco") if find_spec(peer) is None]
collect_ignore = ["docs/_build", *(f"docs/coming-from/{peer}.md" for peer in MISSING)]


def pytest_addoption(parser):
    group = parser.getgroup("attack", "random mechanisms against every promise")
    group.addoption("--attack", type=int, metavar="N", help="try N for each law, not a few")
    group.addoption("--attack-seed", type=int, default=2026, metavar="SEED", help="which ones")
    group.addoption("--attack-all", action="store_true", help="where it is known to fail, too")


def pytest_report_header(config):
    if config.option.attack is not None:
        return f"attack: {config.option.attack} mechanisms a law, seed {config.option.attack_seed}"


def pytest_configure(config):
    """Build the compiled engine once, before workers ask for it."""
    if not hasattr(config, "workerinput"):
        from poinsot.engine.build import build_missing

        build_missing()


def enter_empty_directory(namespace):
    stack = ExitStack()
    stack.enter_context(chdir(stack.enter_context(TemporaryDirectory())))
    namespace["_leave_directory"] = stack.close


def leave_directory(namespace):
    namespace["_leave_directory"]()


pytest_collect_file = Sybil(
    parsers=[PythonCodeBlockParser()],
    patterns=["*.md"],
    setup=enter_empty_directory,
    teardown=leave_directory,
).pytest()


#: Tests of this folder share nothing, and may take hours.
ALONE = "tests/attack/"
#: Files of these folders share a browser and runs, or solutions of other codes.
SHARING = ("tests/viz/", "tests/oracles/")
#: What takes longest, and starts first: at the end, no worker waits for the other.
LONGEST = (
    "tests/docs/test_gallery_pages.py",
    *SHARING,
    "tests/run/test_blocks.py",
    "tests/run/test_streaming.py",
    "tests/systems/test_springs_over_turns.py",
    "tests/engine/test_machine_code.py",
)


def scope_of(nodeid):
    """Return what one worker runs: a file, a folder of `SHARING`, or a test of `ALONE`."""
    file = nodeid.split("::")[0]
    if file.startswith(ALONE):
        return nodeid
    return next((folder for folder in SHARING if file.startswith(folder)), file)


class FileScheduling(LoadScopeScheduling):
    """One worker runs a whole file.

    The blocks of a document build on each other, and the tests of a file share what they compute.
    Written out because the marker ``xdist_group`` has no effect under pytest 9.2 with xdist 3.8.
    """

    def _split_scope(self, nodeid):
        return scope_of(nodeid)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    config.option.loadscopereorder = False  # as they are collected
    return FileScheduling(config, log)


def pytest_collection_modifyitems(config, items):
    """Put the longest files first, then those with most tests, if there are several workers."""
    if hasattr(config, "workerinput"):
        sizes = Counter(scope_of(item.nodeid) for item in items)
        places = {scope: (place, 0) for place, scope in enumerate(LONGEST)}
        items.sort(
            key=lambda item: places.get(
                scope := scope_of(item.nodeid), (len(LONGEST), -sizes[scope])
            )
        )
