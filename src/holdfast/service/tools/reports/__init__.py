"""Stop reports: what is said of a program, and what of it is new to the client."""
