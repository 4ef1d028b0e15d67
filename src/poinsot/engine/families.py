"""The families of parts, and the kernels that go through all of them.

This tuple is the only place that knows them by name. A kernel here is written as text, one call for
each family that has a kernel for it, on the table of that family.
"""

from typing import Any, NamedTuple

from poinsot.kernels.kernel import kernel
from poinsot.parts.body_loads import Loads
from poinsot.parts.connected import Connections
from poinsot.parts.contact_rows import ContactRows
from poinsot.parts.drags import Drags
from poinsot.parts.driven_rows import DrivenRows
from poinsot.parts.elastic_bodies import ElasticBodies
from poinsot.parts.family import Family
from poinsot.parts.fields import Fields
from poinsot.parts.gravitation import Attractions
from poinsot.parts.networks import PortNetworks
from poinsot.parts.points import Points
from poinsot.parts.relaxing_connections import Relaxations
from poinsot.parts.rows import Rows
from poinsot.parts.strain_rows import StrainRows
from poinsot.parts.struts import Struts

#: In the order in which they act: networks say what goes into ports, and elastic bodies take over
#: what has acted on their places.
FAMILIES: tuple[type[Family], ...] = (
    PortNetworks,
    Points,
    Rows,
    StrainRows,
    ContactRows,
    DrivenRows,
    Struts,
    Loads,
    Drags,
    Fields,
    Attractions,
    Connections,
    Relaxations,
    ElasticBodies,
)

#: The tables of all families.
Tables: Any = NamedTuple("Tables", [(family.__name__, family.Table) for family in FAMILIES])  # type: ignore[misc]


def _through(
    hook: str,
    given: str,
    join: str = "; ",
    first: str = "",
    also: str = "",
    families: tuple[type[Family], ...] = FAMILIES,
    rather: str = "",
) -> Any:
    """Return the kernel (tables, ...) that calls one kernel of every family that has it.

    It takes further tables of all families if these have a name (`also`). Families that have
    another kernel, `rather`, are called by that.
    """
    own = f", {also}" if also else ""
    space: dict[str, Any] = {"__name__": __name__}
    calls = [first] if first else []
    for family in families:
        name, function = family.__name__, getattr(family.kernels, hook)
        if function is not None and rather:
            function = getattr(family.kernels, rather) or function
        if function is not None:
            space[f"{hook}_{name}"] = function
            further = own and f"{own}.{name}"
            calls.append(f"{hook}_{name}(tables.{name}{further}{given and ', '}{given})")
    body = f"{'return ' if first else ''}{join.join(calls)}"
    exec(f"def {hook}(tables{own}{given and ', '}{given}):\n    {body}", space)
    return kernel(space[hook])


#: What families add to residual and tiles, plain and stabilised; see `Kernels`.
act = _through("act", "step, tiles")
act_stabilised = _through("stabilised", "step, tiles")
gaps = _through("gaps", "state, kept, gap")
begin = _through("begin", "state")
fold = _through("fold", "bodies, x")
unfold = _through("unfold", "bodies, x")
energy = _through("energy", "state, step", join=" + ", first="0.0")
ended = _through("ended", "state, step", join=" or ", first="False")
accept = _through("accept", "")
place = _through("place", "step")
end = _through("end", "step, state")
save = _through("save", "x, mid")
start = _through("start", "state")
recall = _through("recall", "state, x0, x1")
begin_back = _through("begin_back", "step, lam, mu")
end_back = _through("end_back", "step, lam, mu, frames, by_u", also="by")
give_ends = _through("give_ends", "step, ends")
give_both = _through("give_both", "step, ends")
#: What those add that can be gone through backwards, with all derivatives: apart if they set inputs
#: of others, and in the plain form if they have other kernels for it.
_BACKWARDS = tuple(family for family in FAMILIES if family.reversible)
_CLOSING = tuple(family for family in _BACKWARDS if family.closes)
_BETWEEN = tuple(family for family in _BACKWARDS if not family.closes)
_BY_HAND = tuple(family for family in _BETWEEN if family.by_hand(stabilised=False))
_REST = tuple(family for family in _BETWEEN if family not in _BY_HAND)
close_exactly = _through("exactly", "step, tiles", families=_CLOSING)
act_by_hand = _through("act", "step, tiles", families=_BY_HAND, rather="exactly")
act_stabilised_exactly = _through("stabilised", "step, tiles", families=_BETWEEN, rather="exactly")
act_on_ends = _through("act", "step, tiles", families=_REST, rather="exactly")
backward = _through("backward", "step, mu, frames, by_u", also="by")
backward_stabilised = _through("backward_stabilised", "step, mu, frames, by_u", also="by")


def _one(hook: str, given: str) -> Any:
    """Return the kernel (tables, k, ...) that calls one kernel of family number k, if it has it."""
    space: dict[str, Any] = {"__name__": __name__}
    lines = list[str]()
    for k, family in enumerate(FAMILIES):
        function = getattr(family.kernels, hook) if family in _BETWEEN else None
        if function is not None:
            space[f"{hook}_{family.__name__}"] = function
            lines += [
                f"if k == {k}:",
                f"    {hook}_{family.__name__}(tables.{family.__name__}, {given})",
            ]
    body = "\n    ".join(lines)
    exec(f"def {hook}_one(tables, k, {given}):\n    {body}", space)
    return kernel(space[f"{hook}_one"])


#: What one family adds to the residual, plain and stabilised, and the start of a step for it.
act_one = _one("act", "step, tiles")
act_one_stabilised = _one("stabilised", "step, tiles")
start_one = _one("start", "state")
products_one = _one("products", "step, products")
