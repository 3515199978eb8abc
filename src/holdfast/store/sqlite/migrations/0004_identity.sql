-- A number that tells this database from others: it is a part of the ids of its calls.
CREATE TABLE identity (number INTEGER NOT NULL);
INSERT INTO identity VALUES ((random() & 9223372036854775807) % 1000000000);
