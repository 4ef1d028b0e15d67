"""Parts that act on frames: joints, contacts, springs, friction, loads, drives; a file a family."""
