"""How far the random mechanisms go: one table, and nothing else says so."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Ranges:
    """Closed ranges of whole numbers; those of units and ratios are powers of ten.

    Parameters
    ----------
    bodies, loops, doubled
        Bodies, joints that close loops, and joints that are added twice.
    length, mass, time
        Units: a mechanism of a metre, a kilogram and a second becomes so much larger.
    ratio
        Of the heaviest to the lightest mass.
    steps
        Steps of the same mechanism, of a second [s].
    forms
        What the mechanism is at heart; see `plans`.
    bulks
        Solid bodies, or some that are flat or slender.
    contacts
        What rolls, or slides on an edge.
    """

    bodies: tuple[int, int] = (1, 4)
    loops: tuple[int, int] = (0, 2)
    doubled: tuple[int, int] = (0, 2)
    length: tuple[int, int] = (-8, 8)
    mass: tuple[int, int] = (-12, 12)
    time: tuple[int, int] = (-6, 6)
    ratio: tuple[int, int] = (0, 12)
    steps: tuple[float, ...] = (0.03, 0.01, 0.001)
    forms: tuple[str, ...] = ("tree", "polygon", "shaft")
    bulks: tuple[str, ...] = ("solid", "flat", "slender")
    contacts: tuple[str, ...] = ("", "RollingSphere", "RollingDisc", "KnifeEdge")


#: What is promised.
ALL = Ranges()
#: What holds, in short runs and in long ones.
HELD = replace(ALL, bulks=("solid", "flat"))
#: Needles and point masses: what turns them about their axis is refused by name.
NEEDLES = replace(ALL, bulks=("slender",), ratio=(0, 0))
#: Long runs at larger mass ratios are as exact, but at dead points light bodies may turn far in one
#: step, however little they turned before: it fails, or the run tells what it lost.
HELD_LONG = replace(HELD, length=(-2, 2), ratio=(0, 3))
