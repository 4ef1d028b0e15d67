"""What `poinsot run` can run: a published example, a model file, the model of an earlier result."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poinsot.errors import InputError
from poinsot.gallery import MODULES, Check, Example, find_example
from poinsot.model import Model
from poinsot.model.simulation import Simulation
from poinsot.result import Result, load
from poinsot.run import simulate

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Task(ABC):
    """Something to simulate, with its own defaults."""

    @abstractmethod
    def describe(self) -> str:
        """Return a few lines about it."""

    @abstractmethod
    def simulate(self, **options: Any) -> Result:
        """Simulate it; options as in `poinsot.simulate` replace its own."""

    @abstractmethod
    def plot(self, result: Result) -> "Figure":
        """Return its figure."""

    @abstractmethod
    def animate(self, result: Result, path: Path) -> None:
        """Write its animation."""

    def check(self, result: Result) -> Sequence[Check]:
        """Compare its default run with what somebody else published."""
        return ()


@dataclass(frozen=True)
class Published(Task):
    """An example of the gallery."""

    example: Example

    def describe(self) -> str:
        """Return title and source."""
        return f"{self.example.title} ({self.example.source})"

    def simulate(self, **options: Any) -> Result:
        """Simulate the published case, or a variation of it."""
        return self.example.run(**options)

    def plot(self, result: Result) -> "Figure":
        """Return the figure like the published one."""
        return self.example.plot(result)

    def animate(self, result: Result, path: Path) -> None:
        """Write the animation, if it has one."""
        if self.example.animate is None:
            raise InputError(f"example '{self.example.name}' has no animation")
        self.example.animate(result, path)

    def check(self, result: Result) -> Sequence[Check]:
        """Compare with the published numbers."""
        return self.example.check(result)


@dataclass(frozen=True)
class Described(Task):
    """A model with its simulation, as a file describes them."""

    model: Model

    def describe(self) -> str:
        """Return counts and degrees of freedom."""
        return str(self.model.check())

    def simulate(self, **options: Any) -> Result:
        """Simulate as the file says, or otherwise."""
        own = {"step": options.pop("h", None)}
        names = ("scheme", "coordinates", "t_end", "engine", "save_every")
        own |= {k: options.pop(k) for k in names if k in options}
        chosen = (self.model.simulation or Simulation()).options(**own)
        return simulate(self.model, **chosen, **options)

    def plot(self, result: Result) -> "Figure":
        """Return everything at a glance."""
        from poinsot.viz import plot_overview

        return plot_overview(result)

    def animate(self, result: Result, path: Path) -> None:
        """Write the motion of the mechanism."""
        from poinsot.viz import animate

        animate(result, path)


def find_task(what: str) -> Task:
    """Return what a name or a file stands for."""
    path = Path(what)
    if path.suffix in (".yaml", ".yml"):
        return Described(Model.from_yaml(path))
    if path.suffix == ".nc":
        return Described(_model_of(load(path), path))
    if what not in MODULES and path.is_file():
        raise InputError(f"'{what}' is neither a model file (.yaml) nor a result (.nc)")
    return Published(find_example(what))


def _model_of(result: Result, path: Path) -> Model:
    if not result.document:
        raise InputError(
            f"'{path}' does not hold its model, which has Python functions in it; run the script "
            "that made it"
        )
    return Model.from_yaml_text(result.document)
