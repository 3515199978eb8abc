"""The store in one SQLite file: one thread writes, many connections read."""
