"""Every joint, formulation, engine and topology: cells of a matrix, all of them or a covering few.

A covering design of strength two has, for every two factors, every two of their values in one cell.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product

import mechanisms
import numpy as np
from checks import Formulation
from plans import Case, bars, doubled, in_contact, polygon

import poinsot as ps

CONTACTS = ("RollingSphere", "RollingDisc", "KnifeEdge")
JOINTS = (*mechanisms.KINDS, *CONTACTS)
ENGINES = ("compiled", "reference")
TOPOLOGIES = ("tree", "loop", "repeated loop")
ROTATIONS = ("rotations", "rotations-quaternion", "rotations-euler")
MIDPOINT = ("ph-mp", "ph-mp-4", "ph-mp-6")
#: What schemes run in.
FORMULATIONS = tuple(
    Formulation(coordinates, name)
    for name, scheme in ps.SCHEMES.items()
    for coordinates in (
        ("quaternions",)
        if scheme.formulation != "ph"
        else ("directors", *(ROTATIONS if name in MIDPOINT else ()))
    )
)


@dataclass(frozen=True)
class Cell(Case):
    """A mechanism around one joint, how it is described, and what computes it."""

    joint: str = "Revolute"
    formulation: Formulation = FORMULATIONS[0]
    engine: str = "reference"
    topology: str = "tree"

    def __str__(self):
        return f"{self.joint}, {self.formulation}, {self.engine}, {self.topology}"

    @cached_property
    def pairs(self):
        """Every two of the values that make the cell."""
        how = self.formulation.coordinates, self.formulation.scheme
        return frozenset(combinations((self.joint, *how, self.engine, self.topology), 2))

    def plan(self):
        """Return two bodies, a spatial loop, or a flat one with a joint repeated, free in space."""
        random = np.random.default_rng(self.seed)
        rolls = self.joint in CONTACTS
        kind = "Spherical" if rolls else self.joint
        if self.topology == "tree":
            plan = mechanisms.pair(kind, self.seed)
        elif self.topology == "loop":
            plan = triangle(kind, random)
        else:
            plan = doubled(pentagon(kind, random), 1, random)
        return in_contact(plan, self.joint, random) if rolls else plan


def triangle(kind, random):
    """Three bodies in a ring: the joint, a ball joint, and a point on a line."""
    bodies = bars(random, 2 * random.standard_normal((3, 3)))
    names, joints = list(bodies), {}
    around = (kind, "Spherical", "PointOnLine")
    for a, b, each in zip(np.roll(names, 1).tolist(), names, around, strict=True):
        middle = (bodies[a]["position"] + bodies[b]["position"]) / 2
        at = mechanisms.place_joint(each, a, b, random, middle)
        joints[f"{each} {a} {b}"] = (each, {"a": a, "b": b, **at})
    return mechanisms.Plan(bodies=bodies, joints=joints)


def pentagon(kind, random):
    """Five bodies in a ring of parallel hinges, which repeat each other; one is the joint."""
    plan = polygon(random, ground=False, gravity=False, count=5)
    (first, (_, hinge)), *others = plan.joints.items()
    at = mechanisms.place_joint(kind, hinge["a"], hinge["b"], random, hinge["point"])
    n = hinge["axis"]
    x = np.cross(n, mechanisms.unit(random))
    along = {"axis": n, "axis_a": n, "axis_b": x, "normal": n, "x": n, "y": x}
    at |= {key: along[key] for key in at if key in along}
    joints = {first: (kind, {"a": hinge["a"], "b": hinge["b"], **at}), **dict(others)}
    return replace(plan, joints=joints)


def every():
    """Return the whole matrix."""
    whole = product(JOINTS, FORMULATIONS, ENGINES, TOPOLOGIES)
    return [
        Cell(seed=seed, joint=joint, formulation=formulation, engine=engine, topology=topology)
        for seed, (joint, formulation, engine, topology) in enumerate(whole)
    ]


def pairwise():
    """Return cells with every two values that occur together in the matrix: the greedy way."""
    cells, chosen = every(), []
    missing = set().union(*(cell.pairs for cell in cells))
    while missing:
        chosen.append(max(cells, key=lambda cell: len(cell.pairs & missing)))
        missing -= chosen[-1].pairs
    return chosen
