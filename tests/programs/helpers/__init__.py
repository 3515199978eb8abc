"""Modules that a program imports."""
