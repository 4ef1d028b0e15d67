"""The sparse LU of 3x3 tiles against dense solutions, on graphs of every shape."""

import numpy as np
import pytest
from kernels import solve_tiles, solve_transposed, times_transposed

from poinsot.engine.tiles import analyse

NODES = 24


def chain():
    return [(i, i + 1) for i in range(NODES - 1)]


def star():
    return [(0, i) for i in range(1, NODES)]


def grid():
    side = 5
    across = [(side * i + j, side * i + j + 1) for i in range(4) for j in range(side - 1)]
    return across + [(side * i + j, side * (i + 1) + j) for i in range(3) for j in range(side)]


def cloud():
    random = np.random.default_rng(1)
    return [tuple(map(int, random.choice(NODES, 2, replace=False))) for _ in range(40)]


def loose():
    """No edges at all."""
    return []


GRAPHS = {f.__name__: f for f in (chain, star, grid, cloud, loose)}


@pytest.fixture(params=GRAPHS)
def edges(request):
    return GRAPHS[request.param]()


def fill(pattern, edges, seed):
    """A random matrix of the pattern, as tiles and dense; its diagonal is strong."""
    random = np.random.default_rng(seed)
    tiles, dense = np.zeros((pattern.tiles, 3, 3)), np.zeros((NODES, 3, NODES, 3))
    pairs = [(i, i) for i in range(NODES)] + edges + [(j, i) for i, j in edges]
    for i, j in pairs:
        block = random.standard_normal((3, 3)) + (20 * np.eye(3) if i == j else 0)
        tiles[pattern.place(i, j)], dense[i, :, j] = block, block
    return tiles, dense.reshape(3 * NODES, 3 * NODES)


def nothing(_):
    return [()] * NODES


def backwards(random):
    """Each of the later half waits for a few of the earlier half."""
    half = NODES // 2
    return [()] * half + [tuple(map(int, random.choice(half, 3))) for _ in range(half)]


@pytest.mark.parametrize("hardly", [False, True])
@pytest.mark.parametrize("after", [nothing, backwards])
def test_the_solution_is_that_of_the_dense_matrix(edges, after, hardly):
    random = np.random.default_rng(2)
    pattern = analyse(NODES, edges, after(random))
    tiles, dense = fill(pattern, edges, seed=3)
    right = random.standard_normal((NODES, 3))
    x = solve_tiles(pattern.schedule, tiles, hardly, right)
    expected = np.linalg.solve(dense, right.reshape(-1)).reshape(NODES, 3)
    np.testing.assert_allclose(x, expected, rtol=1e-12, atol=1e-14)
    x = solve_transposed(pattern.schedule, tiles, hardly, right)
    expected = np.linalg.solve(dense.T, right.reshape(-1)).reshape(NODES, 3)
    np.testing.assert_allclose(x, expected, rtol=1e-12, atol=1e-14)
    product = times_transposed(pattern.schedule, tiles, right)
    expected = (dense.T @ right.reshape(-1)).reshape(NODES, 3)
    np.testing.assert_allclose(product, expected, rtol=1e-12, atol=1e-12)


def test_every_edge_has_two_tiles_and_every_node_one(edges):
    pattern = analyse(NODES, edges, nothing(None))
    places = pattern.place(*np.indices((NODES, NODES)))
    there = places < pattern.tiles
    assert all(there[i, j] and there[j, i] for i, j in edges)
    assert there.diagonal().all()
    assert sorted(places[there]) == list(range(pattern.tiles))


@pytest.mark.parametrize("graph", [chain, star])
def test_a_tree_is_eliminated_without_fill(graph):
    edges = graph()
    assert analyse(NODES, edges, nothing(None)).tiles == NODES + 2 * len(edges)


def test_a_pivot_may_be_indefinite():
    """A saddle point: the second node's own tile is zero until the first is eliminated."""
    pattern = analyse(2, [(0, 1)], [(), (0,)])
    tiles = np.zeros((pattern.tiles, 3, 3))
    tiles[pattern.place(0, 0)] = 2 * np.eye(3)
    tiles[pattern.place(0, 1)] = tiles[pattern.place(1, 0)] = np.eye(3)
    x = solve_tiles(pattern.schedule, tiles, False, np.array([[1.0, 2, 3], [4, 5, 6]]))
    np.testing.assert_allclose(x, [[4, 5, 6], [-7, -8, -9]], rtol=1e-14)


def test_a_definite_pivot_may_be_hardly_regular():
    """Two of three directions almost lost, as in repeated constraints: cofactors would cancel."""
    A = np.ones((3, 3)) + 1e-8 * np.diag([1.0, 2.0, 3.0])
    exact = np.array([1.0, -2.0, 3.0])
    x = solve_tiles(analyse(1, [], [()]).schedule, A[None], True, (A @ exact)[None])
    np.testing.assert_allclose(x[0], exact, rtol=1e-7)
