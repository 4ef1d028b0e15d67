"""What `poinsot run` can run: a published example, a model file, the model of an earlier result."""

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
    """A model with its simulation, as a file describes them; to be used like an `Example`."""

    model: Model

    def describe(self) -> str:
        """Return counts and degrees of freedom."""
        return str(self.model.check())

    def run(self, **options: Any) -> Result:
        """Simulate as the file says; options as in `poinsot.simulate` replace its own."""
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
    """A run that goes on from its file; to be used like an `Example`."""

    path: Path

    def describe(self) -> str:
        """Return how far it is."""
        with load(self.path) as so_far:
            return repr(so_far)[1:-1]

    def run(self, **options: Any) -> Result:
        """Go on; options as in `poinsot.resume`."""
        return resume(self.path, **options)

    def check(self, result: Result) -> Sequence[Check]:
        """Return nothing: a file holds no numbers to compare with."""
        return ()

    plot = staticmethod(plot_overview)
    film = staticmethod(animate)
    require_film = staticmethod(require_film)


Task: TypeAlias = Example | Described


def find_task(what: str) -> Task:
    """Return what a name or a file stands for."""
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
            f"'{path}' does not hold its model, which has Python functions in it; run the script "
            "that made it"
        )
    return Model.from_yaml_text(result.document)
