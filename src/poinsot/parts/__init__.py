"""Parts that act on frames: joints, contacts, springs, friction, loads; a file a family."""
