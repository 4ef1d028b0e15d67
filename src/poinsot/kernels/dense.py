"""Small systems of linear equations in kernels."""

from math import nan

from poinsot.kernels.algebra import Array
from poinsot.kernels.kernel import kernel


@kernel
def solve_dense(a: Array, first: int, n: int, width: int) -> None:
    """Solve A X = B for n unknowns: A and B are side by side in rows of `width` numbers.

    Row follows on row in the array, from its number `first` on. X replaces B; NaN if A is singular.
    """
    for i in range(n):
        row, largest = first + i * width, 0.0
        for j in range(n):
            largest = max(largest, abs(a[row + j]))
        scale = 1.0 / largest if largest > 0.0 else nan
        for j in range(width):
            a[row + j] *= scale
    for k in range(n):
        pivot = k
        for i in range(k + 1, n):
            if abs(a[first + i * width + k]) > abs(a[first + pivot * width + k]):
                pivot = i
        upper, chosen = first + k * width, first + pivot * width
        for j in range(width):
            a[upper + j], a[chosen + j] = a[chosen + j], a[upper + j]
        reciprocal = 1.0 / a[upper + k] if a[upper + k] != 0.0 else nan
        for i in range(k + 1, n):
            row = first + i * width
            factor = reciprocal * a[row + k]
            for j in range(k + 1, width):
                a[row + j] -= factor * a[upper + j]
        a[upper + k] = reciprocal
    for column in range(n, width):
        for k in range(n - 1, -1, -1):
            row = first + k * width
            total = a[row + column]
            for j in range(k + 1, n):
                total -= a[row + j] * a[first + j * width + column]
            a[row + column] = total * a[row + k]
