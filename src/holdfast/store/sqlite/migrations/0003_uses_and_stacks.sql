-- `last` is no less than the number of the last call with this stack: a stack can go with that.
ALTER TABLE stacks ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
UPDATE stacks SET last = (SELECT coalesce(max(id), 0) FROM calls);

-- Uses that wait to be sorted in come as two columns of numbers for each batch of calls, eight bytes
-- each, little-endian: the values, and the call that used the one at the same place.
INSERT OR IGNORE INTO uses SELECT value, call_id FROM coming_uses ORDER BY value, call_id;
DROP TABLE coming_uses;
CREATE TABLE coming_uses (
  id    INTEGER PRIMARY KEY,
  keys  BLOB NOT NULL,
  users BLOB NOT NULL
);
