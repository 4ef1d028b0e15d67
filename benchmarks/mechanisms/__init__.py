"""The mechanisms, each described once for all codes."""
