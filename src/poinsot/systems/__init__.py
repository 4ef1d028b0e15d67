"""Systems: mechanisms in all coordinates, Lagrangians, and redundant coordinates."""
