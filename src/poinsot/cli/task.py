"""What `poinsot run` can run: a published example, a model file, the model of an earlier result."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poinsot.errors import InputError
from poinsot.gallery import Check, Example, find_example
from poinsot.result import Result

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


def find_task(what: str) -> Task:
    """Return what a name or a file stands for."""
    return Published(find_example(what))
