"""The order of elimination: joints wait for their bodies, and what is sparse stays sparse."""

import numpy as np
import pytest
from mechanisms import SCHEMES, tree

import poinsot as ps
from poinsot.engine.ordering import has_loops, least_degree, waiting
from poinsot.engine.tiles import NODE
from poinsot.systems.compiled.machine import Parts, Tables

# -- least degree -----------------------------------------------------------------------------


def neighbours(nodes, edges):
    around = [set() for _ in range(nodes)]
    for i, j in edges:
        around[i].add(j)
        around[j].add(i)
    return around


def random_graph(seed, nodes=30):
    random = np.random.default_rng(seed)
    return [tuple(map(int, random.choice(nodes, 2, replace=False))) for _ in range(2 * nodes)]


@pytest.mark.parametrize("seed", range(5))
def test_every_node_comes_once_and_after_those_it_waits_for(seed):
    random, nodes = np.random.default_rng(seed), 30
    after = [()] * 15 + [tuple(map(int, random.choice(15, 4))) for _ in range(15)]
    order = least_degree(neighbours(nodes, random_graph(seed)), after)
    assert sorted(order) == list(range(nodes))
    rank = {node: k for k, node in enumerate(order)}
    assert all(rank[before] < rank[node] for node in range(nodes) for before in after[node])


@pytest.mark.parametrize("seed", range(5))
def test_each_node_has_the_least_degree_of_those_left(seed):
    """Eliminated by hand on a copy of the graph."""
    edges = random_graph(seed)
    graph = neighbours(30, edges)
    for node in least_degree(neighbours(30, edges), [()] * 30):
        assert len(graph[node]) == min(len(around) for around in graph if around is not None)
        for other in graph[node]:
            graph[other] |= graph[node] - {other}
            graph[other].discard(node)
        graph[node] = None


def test_the_graph_is_left_as_it_was_met():
    """A path 0-1-2 from its end: 0 meets 1, 1 then meets 2, and 2 nobody."""
    graph = neighbours(3, [(0, 1), (1, 2)])
    assert least_degree(graph, [(), (0,), (1,)]) == [0, 1, 2]
    assert graph == [{1}, {2}, set()]


def test_nobody_waits_for_what_never_comes():
    assert least_degree(neighbours(2, []), [(1,), (0,)]) == []


# -- who waits for whom -----------------------------------------------------------------------


def test_a_joint_of_a_branch_waits_for_the_body_that_hangs_on_it():
    """Ground - 0 - 1 - 2: seen from the free end, or from the ground, each joint has a child."""
    ends = [[0], [0, 1], [1, 2]]
    assert waiting(ends, [[10], [11], [12]]) == [(10,), (11,), (12,)]


def test_a_joint_of_a_loop_waits_for_both_bodies():
    """Ground - 0 - 1 - ground, and 2 hangs on 1."""
    ends = [[0], [0, 1], [1], [1, 2]]
    assert waiting(ends, [[0, 1], [2, 3], [4, 5]]) == [(0, 1), (0, 1, 2, 3), (2, 3), (4, 5)]


def test_joints_of_a_hub_wait_for_its_arms_alone():
    ends = [[0], *([0, arm] for arm in range(1, 8))]
    assert waiting(ends, [[k] for k in range(8)]) == [(k,) for k in range(8)]


def test_two_joints_between_two_bodies_afloat_wait_for_one_of_them():
    assert waiting([[0, 1], [0, 1]], [[0], [1]]) == [(1,), (1,)]


def test_joints_of_a_loop_do_not_wait_for_the_body_that_carries_it():
    """Two loops 0-1-2-0 and 0-3-4-0 on a hub afloat; 5 hangs on 4."""
    ends = [[0, 1], [1, 2], [2, 0], [0, 3], [3, 4], [4, 0], [4, 5]]
    found = waiting(ends, [[k] for k in range(6)])
    assert found == [(1,), (1, 2), (2,), (3,), (3, 4), (4,), (5,)]


def test_the_ground_carries_a_loop_like_any_body():
    """A hub on a ground joint: its loop waits for the loop's bodies, that joint for the hub."""
    ends = [[0], [0, 1], [1, 2], [2, 0]]
    assert waiting(ends, [[k] for k in range(3)]) == [(0,), (1,), (1, 2), (2,)]


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        ([[0], [0, 1], [1, 2]], False),
        ([[0], [0, 1], [1]], True),
        ([[0, 1], [1, 2], [2, 0]], True),
        ([], False),
    ],
)
def test_loops_are_found_through_the_ground_and_without_it(ends, expected):
    assert has_loops(ends, 3) is expected


# -- mechanisms -------------------------------------------------------------------------------


def tables(model, scheme="ph-mp"):
    system = model.compile("directors", stabilised=scheme == "ph-mp-ggl")
    parts = Parts.of(system.mechanism, system.layout)
    return Tables(system.mechanism, system.layout, parts, system.stabilised)


def reach_of_the_ground(joints, without):
    """The bodies that hang together with the ground by others than `without`."""
    reached, grown = {-1}, True
    while grown:
        pairs = [{joint.a.index, joint.b.index} for joint in joints.values()]
        more = set().union(*(p for p in pairs if p & reached and without not in p)) - reached
        reached, grown = reached | more, bool(more)
    return reached


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("seed", range(6))
def test_a_joint_waits_for_all_of_its_bodies_but_one_that_carries_it(seed, scheme):
    """Else its pivot would be zero, or two joints would share the freedoms of a body."""
    model = tree(seed, bodies=6, loops=seed % 3).model()
    found = tables(model, scheme)
    turn = {int(node): k for k, node in enumerate(found.schedule.pivots[:-1, NODE])}
    gone = [max(turn.get(n, -1) for n in found.graph.of_bodies(b).tolist()) for b in range(6)]
    nodes = found.places[:, 0].tolist()  # of every multiplier, joint after joint
    for joint in model.joints.values():
        mine, nodes = nodes[: len(joint.rows())], nodes[len(joint.rows()) :]
        first = min(turn[node] for node in mine)
        ends = [end.index for end in (joint.a, joint.b) if end is not model.ground]
        later = [end for end in ends if gone[end] > first]
        assert len(later) < len(ends)
        for carrier in later:
            assert not set(ends) - {carrier} <= reach_of_the_ground(model.joints, carrier)


def star(count):
    model = ps.Model()
    hub = model.add_body("hub", ps.Sphere(mass=1, radius=1))
    for i in range(count):
        arm = model.add_body(f"arm{i}", ps.Sphere(mass=1, radius=1), position=(2, i, 0))
        kind = ps.Revolute if i % 2 else ps.Cylindrical
        model.add_joint(f"joint{i}", kind(hub, arm, point=(1, i, 0), axis=(0, 1, 0)))
    return model


def chain(count):
    model = ps.Model()
    last = model.ground
    for i in range(count):
        link = model.add_body(f"link{i}", ps.Sphere(mass=1, radius=1), position=(i, 0, 0))
        model.add_joint(f"joint{i}", ps.Spherical(last, link, point=(i - 0.5, 0, 0)))
        last = link
    return model


def fence(count):
    """Posts on the ground, neighbours joined by beams: a row of loops."""
    model = ps.Model()
    last = None
    for i in range(count):
        post = model.add_body(f"post{i}", ps.Sphere(mass=1, radius=1), position=(i, 0, 0))
        model.add_joint(f"foot{i}", ps.Spherical(model.ground, post, point=(i, -0.5, 0)))
        if last is not None:
            model.add_joint(f"beam{i}", ps.Rod(last, post, (i - 1, 0.5, 0), (i, 0.5, 0)))
        last = post
    return model


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("mechanism", [star, chain, fence])
def test_work_grows_with_the_number_of_bodies_and_no_faster(mechanism, scheme):
    """Tiles, and products of tiles, of stabilised as many bodies are stabilised as many."""
    few, many = (tables(mechanism(count), scheme) for count in (30, 60))
    assert many.tiles.count < 2.1 * few.tiles.count
    assert many.schedule.updates.size < 2.1 * few.schedule.updates.size
