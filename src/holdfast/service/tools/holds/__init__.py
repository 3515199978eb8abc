"""The tools for what waits for a decision, and for recorded calls."""
