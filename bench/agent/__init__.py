"""What an agent pays to debug: calls, bytes and time over MCP, beside two other MCP servers.

The others are installed from their registries into a folder of their own (`peers.py`). All are
driven by the official client, in turn, over the same scenario (`scenario.py`).
"""
