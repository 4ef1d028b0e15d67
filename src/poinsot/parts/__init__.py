"""Parts that act on frames: joints, contacts, forces, loads and drives; one file per family."""
