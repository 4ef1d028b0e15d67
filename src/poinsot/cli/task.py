"""What `poinsot run` simulates: a gallery example, a model file, or the model of a result."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from poinsot.errors import InputError
from poinsot.gallery import MODULES, Check, Example, find_example
from poinsot.model import Model
from poinsot.model.resume import resume
from poinsot.model.simulation import Simulation
from poinsot.result import Result, load
from poinsot.run import simulate
from poinsot.viz import animate, plot_overview
from poinsot.viz.formats import require_film


@dataclass(frozen=True)
class Described:
    """A model with its simulation from a file; has the methods of an `Example`."""

    model: Model

    def describe(self) -> str:
        """Return counts and degrees of freedom."""
        return str(self.model.check())

    def run(self, **options: Any) -> Result:
        """Simulate with the options of the file, replaced by those given as for `simulate`."""
        own = {"step": options.pop("h", None)}
        names = ("scheme", "coordinates", "t_end", "engine", "save_every", "tolerance")
        own |= {k: options.pop(k) for k in names if k in options}
        chosen = (self.model.simulation or Simulation()).options(**own)
        return simulate(self.model, **chosen, **options)

    def check(self, result: Result) -> Sequence[Check]:
        """Return nothing: a file holds no numbers to compare with."""
        return ()

    plot = staticmethod(plot_overview)
    film = staticmethod(animate)
    require_film = staticmethod(require_film)


@dataclass(frozen=True)
class Resumed:
    """A run that continues from its file; has the methods of an `Example`."""

    path: Path

    def describe(self) -> str:
        """Return the state of the run."""
        with load(self.path) as so_far:
            return repr(so_far)[1:-1]

    def run(self, **options: Any) -> Result:
        """Continue; options as for `poinsot.resume`."""
        return resume(self.path, **options)

    def check(self, result: Result) -> Sequence[Check]:
        """Return nothing: a file holds no numbers to compare with."""
        return ()

    plot = staticmethod(plot_overview)
    film = staticmethod(animate)
    require_film = staticmethod(require_film)


Task: TypeAlias = Example | Described


def find_task(what: str) -> Task:
    """Return the task for the name of an example or a file."""
    path = Path(what)
    if path.suffix in (".yaml", ".yml"):
        return Described(Model.from_yaml(path))
    if path.suffix == ".nc":
        return Described(_model_of(load(path), path))
    if what not in MODULES and path.is_file():
        raise InputError(f"'{what}' is neither a model file (.yaml) nor a result (.nc)")
    return find_example(what)


def _model_of(result: Result, path: Path) -> Model:
    if not result.document:
        raise InputError(
            f"'{path}' does not contain its model, which has Python functions; run the script "
            "that made it instead"
        )
    return Model.from_yaml_text(result.document)
