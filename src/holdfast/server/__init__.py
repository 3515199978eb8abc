"""The HTTP server: how people and programs reach the service.

Every request passes `access_control` first (with `peers`, which asks the kernel who is calling),
and every error leaves in one shape (`error_answers`). Routes parse, call one operation of
`service`, and render its answer; they decide nothing themselves.
"""
