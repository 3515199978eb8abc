"""The tools that run programs, step through them and look into them."""
