"""The faces: how people and programs reach the service over HTTP.

Every request passes the same door first (`trust`, with `peers` to ask the kernel who is calling),
and every error leaves in the same shape (`answers`). What a face may do is decided in `service`;
this room only parses, asks, and says the answer.
"""
