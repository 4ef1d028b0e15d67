"""The runs of a study: a model with other values of its parameters, and how it is run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poinsot.model.model import Model
from poinsot.model.parameters import Parameters
from poinsot.model.simulation import Simulation
from poinsot.ph.stages import Newton
from poinsot.run.opening import Opening
from poinsot.run.plan import Plan
from poinsot.run.run import Run

Array = NDArray[np.float64]


#: Sections of a file whose parts may refuse numbers that are good one by one.
PARTS = ("bodies", "joints", "forces", "ports", "transmissions")


@dataclass(frozen=True, eq=False)
class Cases:
    """A model, some of its parameters, and how it is run; values come one after the other.

    Parameters
    ----------
    parameters : Parameters
        The parameters that change.
    shapes : mapping
        Paths -> shapes of their values.
    options : mapping
        How to run it, as to `Simulation.options`.
    """

    parameters: Parameters
    shapes: Mapping[str, tuple[int, ...]]
    options: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def _pieces(self) -> dict[str, slice]:
        sizes = [int(np.prod(shape)) for shape in self.shapes.values()]
        ends = np.cumsum([0, *sizes]).tolist()
        return {path: slice(*ends[k : k + 2]) for k, path in enumerate(self.shapes)}

    @property
    def parts(self) -> list[str]:
        """The part of the model that each number of a row belongs to; "": to none."""
        found = list[str]()
        for path, piece in self._pieces.items():
            kind, _, rest = path.partition(".")
            of_part = kind in PARTS
            found += (piece.stop - piece.start) * [f"{kind}.{rest.split('.')[0]}" * of_part]
        return found

    def values(self, row: Array) -> dict[str, Array]:
        """Return parameters by path of all numbers in one vector."""
        pairs = self._pieces.items()
        return {path: row[piece].reshape(self.shapes[path]) for path, piece in pairs}

    def model(self, row: Array) -> Model:
        """Return the model with these values; raises a `PoinsotError` if there is none."""
        return self.parameters.model(self.values(row))

    def run(self, row: Array) -> tuple[Model, Run]:
        """Return the model with these values, and its run, none of which has been taken."""
        model = self.model(row)
        options = (model.simulation or Simulation()).options(**self.options)
        scheme, newton = options.pop("scheme"), options.pop("newton") or Newton()
        asked = options.pop("engine")
        plan = Plan(newton=newton, asked=asked, **options)
        return model, Run.of(model, plan, scheme, None, None, None, keep=True)

    def opening(self, row: Array) -> Opening | None:
        """Return the beginning of a run in machine code, if that can take it by itself."""
        return Opening.of(self.run(row)[1])
