"""The formats, without IO: bytes and JSON on one side, plain values on the other.

Nothing here opens a socket or a file. Whoever does hands over the bytes as they come, in whatever
pieces, and gets whole messages back; so a format is tested by feeding it bytes.
"""
