-- Programs that were launched lately, the newest at position 0.
CREATE TABLE launches (
  position INTEGER NOT NULL PRIMARY KEY,
  document TEXT NOT NULL
);
