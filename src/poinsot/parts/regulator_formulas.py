"""Regulators whose laws are formulas, as machine code that closes ports of a mechanism."""

from math import isfinite

import numpy as np

from poinsot.parts.formula_laws import machine_code
from poinsot.parts.regulators import ByFormulas
from poinsot.ph.compiled import CompiledFunction
from poinsot.ph.graphs import Graph
from poinsot.ph.network import Network
from poinsot.ph.regulators import Bound


def formula_of(network: Network) -> CompiledFunction | None:
    """Return a network that is nothing but formulas of coordinates and rates; None if it is more.

    It is given (t, h, outputs of the terminals, inputs left open) and finds the inputs of the
    terminals, with their slopes by all outputs if these are wanted.
    """
    bound, k = network.regulators, network.size
    if network.joined.size or network.system.n > k or not bound:
        return None
    if not all(isinstance(each.regulator.law, ByFormulas) for each in bound):
        return None
    if any(reading.kind == "rotation" for each in bound for reading, _, _ in each.places):
        return None
    graph = Graph()
    u = [graph.number(0.0)] * k
    for each in bound:
        for place, row in zip(each.drives.tolist(), _rows(each, graph, k), strict=True):
            u[place] = row
    slopes = [graph.slope(row, 2 + j) for row in u for j in range(k)]
    given = 2 + k + network.m
    return machine_code(given, graph.program(*u), graph.program(*u, *slopes))


def _rows(bound: Bound, graph: Graph, k: int) -> list[int]:
    """Return the rows of a law's outputs, limited."""
    law, measured = bound.regulator.law, []
    assert isinstance(law, ByFormulas)
    half = graph.times(graph.number(0.5), graph.variable(1))
    for reading, at, began in bound.places:
        for i in range(reading.size):
            rate = graph.variable(2 + int(at[i]))
            if reading.starts:  # inputs begin with those of the terminals
                start = graph.variable(2 + int(began[i]))
                rate = graph.plus(start, graph.times(half, rate))
            measured.append(rate)
    rows = graph.include(law.rows.program, [graph.variable(0), *measured])
    limits = law.controller.limits.tolist()
    for i, (low, high) in enumerate(np.asarray(limits).tolist()):
        rows[i] = graph.apply("max", rows[i], graph.number(low)) if isfinite(low) else rows[i]
        rows[i] = graph.apply("min", rows[i], graph.number(high)) if isfinite(high) else rows[i]
    return rows
