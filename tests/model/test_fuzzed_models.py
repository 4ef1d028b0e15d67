"""Models built of anything, with arguments that make sense or not: a run, or errors of Poinsot.

Graphs of all joints, forces, transmissions and ports between any bodies. What runs does so alike in
both engines and in two kinds of coordinates. `--attack 1000` tries more.
"""

import time

import mechanisms
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import poinsot as ps

#: A model is built, checked and run in three ways within this [s].
SOON = 20.0
#: So small are steps that coordinates of second order agree, relative to the size of a mechanism.
H, STEPS, ALIKE = 1e-4, 4, 1e-7
STRANGE = [None, -1.0, 0.0, 1e-30, 1e30, np.nan, np.inf, "x", (), (0, 0, 0), [1, 2], object()]


class Builder:
    """Adds parts at random; one argument in `odds` is strange. Refused parts are left out."""

    def __init__(self, seed, odds):
        self.random, self.odds = np.random.default_rng(seed), odds
        self.model = ps.Model(gravity=9 * mechanisms.unit(self.random))

    def pick(self, values):
        return list(values)[self.random.integers(len(values))]

    def strange(self, arguments):
        """Make some arguments strange."""
        return {
            key: self.pick(STRANGE) if self.random.uniform() * self.odds < 1 else value
            for key, value in arguments.items()
        }

    def build(self, parts):
        for k in range(parts):
            add = Builder.body if k < 2 else self.pick(ADDED)
            try:
                add(self, f"part{self.random.integers(parts * 3)}")
            except ps.PoinsotError as refusal:
                said = str(refusal)
                assert said, f"{add} was refused without a word"
        return self.model

    # -- parts --------------------------------------------------------------------------------

    def body(self, name):
        random = self.random
        at = {
            "position": 2 * random.standard_normal(3),
            "rotation": mechanisms.rotation(random),
        }
        self.model.add_body(name, mechanisms.shape(random), **self.strange(at))

    def end(self):
        return self.pick([self.model.ground, *self.model.bodies.values()])

    def place(self):
        return 2 * self.random.standard_normal(3)

    def joint(self, name):
        kind = self.pick(mechanisms.KINDS)
        at = mechanisms.place_joint(kind, "", "", self.random, self.place())
        if kind == "Universal":
            at["axis_b"] = np.cross(at["axis_a"], mechanisms.unit(self.random))
        joint = getattr(ps, kind)(self.end(), self.end(), **self.strange(at))
        self.model.add_joint(name, joint)

    def named(self):
        """The name of a joint."""
        return self.pick([*self.model.joints, "none"])

    def force(self, name):
        numbers = self.strange(
            dict.fromkeys(("stiffness", "damping"), 10 ** self.random.uniform(-3, 3))
        )
        ends = {"a": self.end(), "b": self.end()}
        points = self.strange({"point_a": self.place(), "point_b": self.place()})
        made = self.pick(
            [
                lambda: ps.Spring(**ends, **points, **numbers),
                lambda: ps.Spring(**ends, **points, force=np.sin),
                lambda: ps.JointSpring(self.named(), **numbers),
                lambda: ps.JointSpring(self.named(), potential=ps.Formula("x**4", "x")),
                lambda: ps.JointFriction(self.named(), **self.strange({"viscous": 1.0})),
                lambda: ps.JointStop(self.named(), lower=-1.0, upper=1.0, **numbers),
                lambda: ps.Drag(self.end(), **self.strange({"viscous": 1.0})),
                lambda: ps.Bushing(
                    **ends, point=self.place(), **self.strange({"stiffness": np.ones(6)})
                ),
                lambda: ps.Gravitation(**ends, **self.strange({"strength": 1.0})),
                lambda: ps.Field(lambda p, d: float(np.sum(p * p)), [(self.end(), self.place())]),
            ]
        )
        self.model.add_force(name, made())

    def port(self, name):
        made = self.pick(
            [
                lambda: ps.ForcePort(self.end(), value=self.place()),
                lambda: ps.TorquePort(self.end(), **self.strange({"value": self.place()})),
                lambda: ps.JointPort(self.named(), **self.strange({"value": np.cos})),
                lambda: ps.JointPort(self.named(), law=lambda t, x, v: -x - v),
                lambda: ps.Drive(self.named(), **self.strange({"rate": 0.5})),
            ]
        )
        self.model.add_port(name, made())

    def transmission(self, name):
        pair = self.named(), self.named()
        gear = ps.Gear(*pair, **self.strange({"ratio": 2.0, "efficiency": 0.9}))
        self.model.add_transmission(name, gear)


ADDED = (Builder.body, Builder.joint, Builder.joint, Builder.force, Builder.port)
ADDED += (Builder.transmission,)


def tries(request, few):
    many = request.config.getoption("--attack")
    phases = [Phase.explicit, Phase.generate, *[Phase.shrink] * (many is not None)]
    options = {"database": None, "deadline": None, "suppress_health_check": list(HealthCheck)}
    return settings(max_examples=many or few, phases=phases, **options)


def ends(model):
    """Places of all bodies after a few steps, by engine and coordinates that did not refuse."""
    found = {}
    for engine, coordinates in (
        ("reference", "directors"),
        ("compiled", "directors"),
        ("auto", "quaternions"),
    ):
        options = {"engine": engine, "coordinates": coordinates}
        try:
            result = ps.simulate(model, h=H, t_end=STEPS * H, **options)
        except ps.PoinsotError:
            continue
        if result.status == "done":
            assert np.isfinite(result.energy).all()
            places = [result.position(name)[-1] for name in model.bodies]
            found[engine, coordinates] = np.array(places)
    return found


@pytest.mark.parametrize("kind", [kind for kind in mechanisms.KINDS if kind != "Weld"])
def test_a_joint_without_its_places_is_refused(kind):
    """None is not a place, and once was as good as one until equations were made."""
    model, random = ps.Model(), np.random.default_rng(0)
    body = model.add_body("bar", mechanisms.shape(random), position=(0, 0, 0))
    at = mechanisms.place_joint(kind, "", "", random, np.zeros(3))
    for key in at:
        with pytest.raises(ps.InputError, match=f"{kind}: {key}"):
            model.add_joint("J", getattr(ps, kind)(model.ground, body, **{**at, key: None}))


@pytest.mark.parametrize("odds", [8, 1000], ids=["strange", "sound"])
@pytest.mark.filterwarnings("ignore")
def test_a_model_of_anything_runs_alike_everywhere_or_is_refused(odds, request):
    ran = []

    def law(seed, parts):
        began = time.perf_counter()
        model = Builder(seed, odds).build(parts)
        try:
            model.check()
            model.project_velocities()
        except ps.PoinsotError:
            return
        found = ends(model)
        first = next(iter(found.values()), None)
        for way, places in found.items():
            apart = abs(places - first).max()
            assert apart <= ALIKE * max(1.0, abs(first).max()), f"{way} is off by {apart:.3g}"
        ran.append(len(found))
        assert time.perf_counter() - began < SOON

    wanted = given(seed=st.integers(0, 2**32 - 1), parts=st.integers(2, 12))
    tries(request, few=12)(wanted(law))()
    assert sum(ran) > 0
