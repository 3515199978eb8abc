"""Functions that no source file has."""

SOURCE = '''
def made(n):
    total = 0
    for i in range(n):
        total += i
    return total
'''

exec(compile(SOURCE, "<made>", "exec"))
evaluated = eval("lambda x: x + 1")


def use(n):
    text = "n * 2"
    value = eval(text)
    scope = {"n": n}
    exec("m = n + 1", scope)
    return value, scope["m"], made(n), evaluated(n)


print(use(4))
