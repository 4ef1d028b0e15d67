"""Bodies: shapes and inertia, and where a body is at the start."""
