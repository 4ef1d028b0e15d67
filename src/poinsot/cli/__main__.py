"""`python -m poinsot.cli` is `poinsot`."""

from poinsot.cli import main

main()
