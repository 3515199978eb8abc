"""What runs beside the user: finding the server, and asking it, with the standard library alone."""
