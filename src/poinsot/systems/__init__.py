"""Systems: mechanisms in all coordinates, Lagrangians, redundant coordinates."""
