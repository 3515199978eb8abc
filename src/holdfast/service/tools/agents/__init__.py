"""The tool that looks at and steers another agent's loop."""
