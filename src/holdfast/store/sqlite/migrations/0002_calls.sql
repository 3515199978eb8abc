-- Values by content: `cid` is the SHA-256 of `data`. The bytes are kept, never loaded.
CREATE TABLE contents (
  id      INTEGER PRIMARY KEY,
  cid     BLOB NOT NULL UNIQUE,
  data    BLOB NOT NULL,
  preview TEXT NOT NULL
);

-- `calls` counts, so that nobody has to.
CREATE TABLE functions (
  id       INTEGER PRIMARY KEY,
  calls    INTEGER NOT NULL DEFAULT 0,
  document TEXT NOT NULL
);

-- Interned: the id is a hash of the frames.
CREATE TABLE stacks (
  id     INTEGER PRIMARY KEY,
  frames TEXT NOT NULL
);

-- The id is the time in microseconds times 1000, plus a number within the microsecond.
-- `cids` holds the call's content ids, 32 bytes each; the document refers to them by position.
-- Where the document has `p`, `cids` is the body of a leased application's batch: ids or values.
CREATE TABLE calls (
  id          INTEGER PRIMARY KEY,
  session     INTEGER NOT NULL,
  function_id INTEGER NOT NULL,
  call_type   TEXT NOT NULL,
  status      INTEGER NOT NULL,
  parent      INTEGER,
  stack       INTEGER,
  duration_ns INTEGER,
  cids        BLOB NOT NULL,
  document    TEXT NOT NULL
);
CREATE INDEX calls_of_function ON calls (function_id, id);
CREATE INDEX calls_of_session ON calls (session, id);
CREATE INDEX calls_within ON calls (parent, id) WHERE parent IS NOT NULL;
-- Nearly every call succeeds (status 1); whoever asks for the others should not read past those.
CREATE INDEX calls_unusual ON calls (status, id) WHERE status <> 1;
CREATE INDEX calls_unusual_of_function ON calls (function_id, status, id) WHERE status <> 1;

-- Which calls used a value: `value` is the first 8 bytes of its content id.
CREATE TABLE uses (
  value   INTEGER NOT NULL,
  call_id INTEGER NOT NULL,
  PRIMARY KEY (value, call_id)
) WITHOUT ROWID;

-- Uses that came by the thousand and wait, in order of arrival, for a quiet moment to be sorted in.
CREATE TABLE coming_uses (
  id      INTEGER PRIMARY KEY,
  value   INTEGER NOT NULL,
  call_id INTEGER NOT NULL
);

CREATE TABLE call_breakpoints (
  id       TEXT NOT NULL PRIMARY KEY,
  position INTEGER NOT NULL,
  document TEXT NOT NULL
);
