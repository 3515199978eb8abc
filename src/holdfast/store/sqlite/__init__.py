"""The store in one SQLite file.

`sqlite_store` locks the directory against a second server, sets a damaged database aside (nothing
is ever deleted), brings the schema up to date and connects the parts:

    SqliteCallLog, SqliteContents, SqliteFeed, SqliteDirectory   the interfaces
    Database        the writer thread, and the threads and connections that read
    WriterThread    takes what has gathered in its `WriteQueue` and commits it together
    CallBuffer      calls and contents until they are committed; readers find them here
    CallJournal     the same in files, for the case that the server is killed before
    call_rows       calls as rows; `packed_calls`: those of a batch; `CallRowReader` finds them
    value_uses      which calls used which value, by `value_keys`
    call_pruning    deletes the oldest calls, and values that nobody uses
    document_tables documents as rows; a damaged row is moved to quarantine

When the disk fails, writes raise, events and calls stay in memory for the next attempt, and what
had to be dropped is counted.
"""
