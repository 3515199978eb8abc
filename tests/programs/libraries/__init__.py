"""Small applications, one for each library: what they do with a wrapped object is compared.

An application is a function that is given `wrap`. It gets back the object itself, or a proxy of
it, and uses that as anybody would. What it returns, raises, logs and warns of must be the same. To
add a library, add a function with `@application("library")` to one of the modules here.
"""

from observations import describe_error

APPLICATIONS = {}


class Application:
    def __init__(self, work, placeholder, limit, options):
        self.work = work
        self.limit = limit  # the entry of docs/calls-limits.md because of which it does differ
        # Its objects cannot be pickled (they have locks, sockets or file handles in them).
        self.on_unpicklable = "placeholder" if placeholder else "raise"
        self.options = options  # of `with_debug`


def application(library, *, placeholder=False, limit=None, **options):
    def add(work):
        assert library not in APPLICATIONS, library
        APPLICATIONS[library] = Application(work, placeholder, limit, options)
        return work

    return add


def attempt(function, *args, **kwargs):
    """What it returns, or all that is known of the exception."""
    try:
        return function(*args, **kwargs)
    except Exception as error:
        return describe_error(error)


from . import data, storage, text, tools, web  # noqa: E402, F401 - they fill the table
