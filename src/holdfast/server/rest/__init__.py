"""The REST routes: each parses its request, calls one operation, and returns its answer.

Every route is served at `/…` and again at `/api/v1/…`. Requests and answers are the structs of
`wire/*_requests.py` and `wire/*_answers.py`. Each module holds the routes of one subject.
"""
