"""The REST routes: parse, ask the service, shape the answer.

Every route is served at `/…` and again at `/api/v1/…`. Bodies are in `bodies`, what is common to
the answers in `common`; each other module holds the routes of one subject.
"""
