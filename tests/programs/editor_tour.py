"""A little of everything that an editor shows: functions, a loop, long values, an exception."""


def prepare():
    return list(range(1000))


def double(value):
    return value * 2  # @inside


def work(many):
    total = 0
    for n in range(5):
        len("")  # @log
        total += double(n)  # @work
        print("done", n)  # @next
    return total


work(prepare())
raise ValueError("no more")  # @raise
