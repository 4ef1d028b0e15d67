"""`Model.check`: degrees of freedom, redundant constraints and singular positions."""

from dataclasses import dataclass

import numpy as np

from poinsot.bodies.flexible import Flexible
from poinsot.errors import printable
from poinsot.model.compiling import is_elastic, mechanism_of, odd_units
from poinsot.model.contents import Contents
from poinsot.model.equations import JointEquations
from poinsot.model.initial import equations_of, twists_of
from poinsot.systems.floating.system import FloatingSystem


@dataclass(frozen=True)
class ModelCheck:
    """Result of `Model.check`: counts, degrees of freedom and redundant constraints by name.

    `singular` lists the joints of each loop that is in a singular position at the start, where its
    motion branches; degrees of freedom are then those of one branch. Each drive and each
    transmission removes one degree of freedom. `notes` lists values that look wrong, such as
    suspicious units.
    """

    bodies: int
    joints: int
    constraints: int
    freedoms: int
    repeated: tuple[str, ...]
    singular: tuple[tuple[str, ...], ...] = ()
    drives: int = 0
    transmissions: int = 0
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return a few lines of text."""
        lines = [
            f"bodies              {self.bodies}",
            f"joints              {self.joints}",
            f"joint constraints   {self.constraints}",
            *([f"transmissions       {self.transmissions}"] if self.transmissions else []),
            *([f"drives              {self.drives}"] if self.drives else []),
            f"degrees of freedom  {self.freedoms}",
        ]
        if self.repeated:
            lines.append(f"redundant           {printable(', '.join(self.repeated))}")
        for joints in self.singular:
            lines.append(f"singular position   {printable(', '.join(joints))}")
        lines += [f"note                {text}" for text in self.notes]
        return "\n".join(lines)


def check(model: Contents) -> ModelCheck:
    """Return degrees of freedom, redundant constraints and singular positions."""
    equations = equations_of(model)
    twists_of(model, equations)
    repeated = _repeated(model, equations)
    equations.require_independent()
    names = [f"{name}: {label}" for name, label in equations.labels]
    free = sum(6 if body.turns else 3 for body in equations.movable)
    free += sum(b.elastic.data.n for b in equations.bodies if isinstance(b, Flexible))
    return ModelCheck(
        bodies=len(equations.movable),
        joints=len(model.joints),
        constraints=len(names),
        freedoms=free - len(names) + len(repeated) - len(equations.drives),
        repeated=tuple(names[k] for k in sorted(repeated)),
        singular=tuple(loop.joints for loop in equations.singular),
        drives=sum(not driven.transmits for driven in equations.drives),
        transmissions=len(model.transmissions),
        notes=tuple(odd_units(model.gravity, equations.bodies)),
    )


def _repeated(model: Contents, equations: JointEquations) -> list[int]:
    """Return the redundant constraints, given the deformations of elastic bodies."""
    if is_elastic(model):
        system = mechanism_of(model, None, stabilised=False)
        assert isinstance(system, FloatingSystem)
        found = np.flatnonzero(system.redundancy.repeated[: len(equations.labels)])
        return [int(k) for k in found]
    return [int(k) for loop in equations.loops for k in loop.rows[loop.repeated]]
