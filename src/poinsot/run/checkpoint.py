"""What a checkpoint of a run holds: all that its next steps and its result depend on.

Numbers and arrays by name, and nothing that is executed. Arrays of the engine that are as they were
before the first step are left out: whoever goes on has them from the same model.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from poinsot.errors import InputError
from poinsot.ph.matrices import Vector
from poinsot.ph.runner import Memory
from poinsot.ph.system import PHSystem
from poinsot.run.loop import Loop
from poinsot.run.plan import Plan

#: Numbers of a model that differ by more than this, relative, are those of another one.
SAME = 1e-9


class Keeper:
    """Makes checkpoints of a run that has not begun, and takes it to where one was made.

    Parameters
    ----------
    plan : Plan
        How it was asked for.
    loop : Loop
        The run.
    """

    def __init__(self, plan: Plan, loop: Loop) -> None:
        self.plan, self.loop, self.recorder = plan, loop, loop.recorder
        self.fresh = loop.memory()
        system, x, turned = self.recorder.system, self.recorder.origin, self.recorder.totals.turn
        self.start = {"start": x, "start angles": turned.copy()}
        self.start["start numbers"] = _numbers_of(system.near(turned), x)

    def checkpoint(self) -> tuple[dict[str, Any], Memory]:
        """Return facts and arrays of where the run is now."""
        facts, arrays = self.recorder.memory()
        now = self.loop.memory()
        changed = {n: array for n, array in now.items() if _differ(array, self.fresh.get(n))}
        kept = {f"recorder {name}": array for name, array in arrays.items()}
        kept |= {f"loop {name}": array for name, array in changed.items()}
        kept |= self._here()
        return {"plan": self.plan.facts, "run": facts}, {**self.start, **kept}

    def restore(self, facts: Mapping[str, Any], arrays: Memory) -> None:
        """Go to where a checkpoint was made, of the same model; refuse another one."""
        self._require_same(self.start, arrays, "start")
        prefix = "loop "
        changed = {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
        for name, array in changed.items():
            known = self.fresh.get(name)
            if known is None:
                continue  # of a phase that an event has led to
            # Events and phases become more and more.
            if (known.shape[1:], known.dtype) != (array.shape[1:], array.dtype):
                raise _another(f"its engine carries other numbers on ('{name}')")
        prefix = "recorder "
        of_recorder = {n.removeprefix(prefix): a for n, a in arrays.items() if n.startswith(prefix)}
        self.recorder.restore(facts["run"], of_recorder)
        self.loop.restore(self.fresh | changed)
        self._require_same(self._here(), arrays, "state")

    def _here(self) -> dict[str, Vector]:
        """Return the energy and its gradient where the run is: springs and fields are in them."""
        system, x = self.recorder.system.near(self.recorder.totals.turn), self.loop.engine.x
        return {"state energy": np.array(system.H(x)), "state gradient": system.grad_H(x)}

    def _require_same(self, own: Mapping[str, Vector], known: Memory, where: str) -> None:
        for name, values in own.items():
            there = known[name]
            if there.shape != values.shape:
                raise _another(f"it has {values.size} numbers for {there.size} of the {where}")
            sizes = self._sizes(np.maximum(abs(values), abs(there)))
            wrong = ~((abs(values - there) <= SAME * sizes) | (values == there))
            wrong &= ~(np.isnan(values) & np.isnan(there))
            if np.any(wrong):
                k = int(np.argmax(np.atleast_1d(wrong)))
                a, b = (float(np.atleast_1d(each)[k]) for each in (values, there))
                raise _another(f"{name}{self._label(values, k)}: {a:.9g} instead of {b:.9g}")

    def _sizes(self, values: Vector) -> Vector:
        """Return the size of each number, or of the largest of the same state."""
        if values.shape != (self.recorder.system.n,):
            return values
        sizes = values.copy()
        for piece in self.recorder.system.slices.values():
            sizes[piece] = np.max(values[piece], initial=0.0)
        return sizes

    def _label(self, values: Vector, k: int) -> str:
        """Return the state that a number belongs to."""
        if values.shape != (self.recorder.system.n,):
            return ""
        slices = self.recorder.system.slices
        return next((f" of '{n}'" for n, piece in slices.items() if piece.start <= k < piece.stop))


def _numbers_of(system: PHSystem, x: Vector) -> Vector:
    """Return numbers that tell a system from others: products of its matrices with vectors."""
    k = np.arange(system.n)
    through = np.cos(np.arange(system.m))
    found = system.E(x) @ np.cos(k) + system.J(x) @ np.cos(2.0 * k) + system.R(x) @ np.cos(3.0 * k)
    return np.asarray(found + system.B(x) @ through)


def _differ(a: Vector, b: Vector | None) -> bool:
    """Return whether arrays differ in any bit, or one of them was not there."""
    return b is None or a.shape != b.shape or a.tobytes() != b.tobytes()


def _another(why: str) -> InputError:
    return InputError(
        f"this is not the model of the run: {why}; give the model, and the version of Poinsot, "
        "that began it"
    )
