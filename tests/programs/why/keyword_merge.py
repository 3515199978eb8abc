"""Settings that are merged in the wrong order, through `**`."""


def merge(defaults, given):
    return {**given, **defaults}  # @bug


def start(**options):
    return "{host}:{port}".format(**options)


def main():
    options = merge({"host": "localhost", "port": 80}, {"port": 8080})
    address = start(**options)
    print(address)  # @why address


main()
