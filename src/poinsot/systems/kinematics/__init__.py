"""Motions of joint coordinates: where bodies are, how fast they move, and what that takes."""
