"""What `Model.check` finds."""

from dataclasses import dataclass

from poinsot.errors import printable


@dataclass(frozen=True)
class ModelCheck:
    """What `Model.check` found: counts, degrees of freedom, and repeated constraints by name.

    `singular` are the joints of every loop that is in a singular position at the start, where its
    motion branches: degrees of freedom are those of one branch. `drives` and `transmissions` take
    one each.
    """

    bodies: int
    joints: int
    constraints: int
    freedoms: int
    repeated: tuple[str, ...]
    singular: tuple[tuple[str, ...], ...] = ()
    drives: int = 0
    transmissions: int = 0

    def __str__(self) -> str:
        """A few lines of text."""
        lines = [
            f"bodies              {self.bodies}",
            f"joints              {self.joints}",
            f"joint constraints   {self.constraints}",
            *([f"transmissions       {self.transmissions}"] if self.transmissions else []),
            *([f"drives              {self.drives}"] if self.drives else []),
            f"degrees of freedom  {self.freedoms}",
        ]
        if self.repeated:
            lines.append(f"repeated            {printable(', '.join(self.repeated))}")
        for joints in self.singular:
            lines.append(f"singular position   {printable(', '.join(joints))}")
        return "\n".join(lines)
