-- "HOLD" in ASCII: tells our database from somebody else's.
PRAGMA application_id = 1213156420;

CREATE TABLE settings (
  key   TEXT NOT NULL PRIMARY KEY,
  value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sessions (
  id         TEXT NOT NULL PRIMARY KEY,
  kind       TEXT NOT NULL,
  created_at REAL NOT NULL,
  updated_at REAL NOT NULL,
  document   TEXT NOT NULL
);

CREATE TABLE breakpoints (
  project  TEXT NOT NULL,
  id       TEXT NOT NULL,
  position INTEGER NOT NULL,
  document TEXT NOT NULL,
  UNIQUE (project, id)
);

CREATE TABLE profiles (
  name     TEXT NOT NULL PRIMARY KEY,
  document TEXT NOT NULL
);

-- No foreign key to sessions: an event may be written before its session is.
CREATE TABLE events (
  session_id TEXT NOT NULL,
  seq        INTEGER NOT NULL,
  at         REAL NOT NULL,
  type       TEXT NOT NULL,
  body       TEXT NOT NULL,
  PRIMARY KEY (session_id, seq)
) WITHOUT ROWID;

-- Rows whose document did not parse. `key` is a JSON object of the row's other columns.
CREATE TABLE quarantine (
  "table"  TEXT NOT NULL,
  key      TEXT NOT NULL,
  document BLOB,
  at       REAL NOT NULL
);
