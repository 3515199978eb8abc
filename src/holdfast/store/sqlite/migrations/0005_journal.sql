-- The last file of the calls' journal whose entries are all in the database.
CREATE TABLE journal (done INTEGER NOT NULL);
INSERT INTO journal VALUES (0);
