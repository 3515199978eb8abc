"""Values of libraries that many programs use."""

import numpy
import pandas
import pydantic


class User(pydantic.BaseModel):
    name: str
    tags: list[str]


def main():
    array = numpy.arange(3000.0).reshape(1000, 3)
    frame = pandas.DataFrame({"name": ["n"] * 100, "age": range(100)})
    model = User(name="ann", tags=["a", "b"])
    return array, frame, model  # @look


main()
