"""Imported by another program."""


def area(width, height):  # @area
    return width * height  # @product


class Square:
    def __init__(self, side):
        self.side = side

    def area(self):  # @square_area
        return area(self.side, self.side)
