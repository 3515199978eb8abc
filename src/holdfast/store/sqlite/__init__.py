"""The store in one SQLite file.

`sqlite_store` holds the directory against a second server, sets a damaged database aside (nothing
is ever deleted), brings the schema up to date and puts the parts together. Reads run on a few
threads with connections of their own. Writes are put on one queue; one thread takes what has
gathered there and commits it together. Events are queued without a future, and a reader sees those
still in the queue merged with those on disk. Calls and contents gather in a `CallBuffer`. When the
disk fails, writes say so, events and calls are kept in memory for the next attempt, and whatever
had to be dropped is counted.
"""
