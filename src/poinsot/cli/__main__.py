"""`python -m poinsot.cli`: the same as `poinsot`."""

from poinsot.cli import main

main()
