"""Bodies of a model by name, the places of elastic ones among them."""

from poinsot.bodies.body import Body
from poinsot.bodies.flexible import Flexible

#: What the first and the last place of an elastic body are called besides their numbers.
ENDS = {"start": 0, "end": -1}


class Bodies(dict[str, Body]):
    """Bodies by name; the first and last places of an elastic one are `beam.start`, `beam.end`."""

    def __missing__(self, name: str) -> Body:
        """Return an end of an elastic body."""
        found = self.find(name)
        if found is None:
            raise KeyError(name)
        return found

    def find(self, name: str) -> Body | None:
        """Return a body by any of its names; None: there is none."""
        of, _, end = name.rpartition(".")
        body = self.get(of)
        if isinstance(body, Flexible) and end in ENDS:
            return body[ENDS[end]]
        return self.get(name)
