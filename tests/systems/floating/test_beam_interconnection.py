"""Two beams joined at ports: by a transformer, by a gyrator, and by a joint of a model."""

from itertools import product

import numpy as np
import pytest
from beam_models import random_state, soft

import poinsot as ps
from poinsot import ph
from poinsot.ph.matrices import dense


def one(name, port, end, **options):
    """Return a beam by itself with a port for forces at one of its ends."""
    model = ps.Model(name=name)
    beam = soft(1, **options)
    x = 0.6 if name == "first" else 1.8
    body = model.add_body(name, beam, position=(x, 0, 0), angular_velocity=(0, 0, 0))
    place = getattr(body, end)
    model.add_port(port, ps.ForcePort(place, point=place.position))
    return model.compile()


@pytest.fixture(scope="module", params=product(("deformed", "undeformed"), (True, False)))
def pair(request):
    options = dict(zip(("momenta", "planar"), request.param, strict=True))
    return one("first", "tip", "end", **options), one("second", "root", "start", **options)


def test_transformer_and_gyrator_make_the_same_system(pair):
    """[BAPM21, eqs. (40) to (42)] and, with input and output of one exchanged, (43) and (44)."""
    first, second = pair
    joined = ph.interconnect(first, second, connections=ph.Transformer("tip", "root"))
    swapped = ph.swap(second, "root")
    gyrated = ph.interconnect(first, swapped, connections=ph.Gyrator("tip", "root"))
    parts = [random_state(system, k) for k, system in enumerate(pair)]
    x = np.concatenate([*parts, [0.3, -0.2, 0.5]])
    np.testing.assert_allclose(dense(gyrated.J(x)), dense(joined.J(x)), atol=1e-13)
    np.testing.assert_allclose(dense(gyrated.E(x)), dense(joined.E(x)), atol=1e-13)
    assert joined.defects(x).holds(1e-6)


def test_the_transformer_is_the_ball_joint_of_a_model(pair):
    """The rows of its constraint are those of the joint, at any deformation."""
    first, second = pair
    model = ps.Model()
    for system, x in ((first, 0.6), (second, 1.8)):
        momenta = "deformed" if system.mechanism.elastic[0].data.deformed else "undeformed"
        planar = system.mechanism.elastic[0].data.n == 3
        model.add_body(system.name, soft(1, planar=planar, momenta=momenta), position=(x, 0, 0))
    ends = model.body("first.end"), model.body("second.start")
    model.add_joint("ball", ps.Spherical(*ends, point=(1.2, 0, 0)))
    whole, parts = model.compile(), [random_state(system, k) for k, system in enumerate(pair)]
    n, m = whole.bodies.rigid.n // 2, first.bodies.rigid.n
    assert n == m
    (zeta1, w1, _), (zeta2, w2, _) = (s.parts(x) for s, x in zip(pair, parts, strict=True))
    zeta = np.concatenate([zeta1[:m], zeta2[:m], zeta1[m:], zeta2[m:]])
    w = np.concatenate([w1[:6], w2[:6], w1[6:], w2[6:]])
    y = [s.y(x, s.z(x)) for s, x in zip(pair, parts, strict=True)]
    np.testing.assert_allclose(whole.bodies.K(zeta) @ w, y[1] - y[0], atol=1e-13)
