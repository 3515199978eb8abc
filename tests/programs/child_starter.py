"""Starts children in the ways that its arguments name, one after the other.

Every child works through `work`, so that a breakpoint there is one that children run into.
"""

import concurrent.futures
import multiprocessing
import os
import signal
import subprocess
import sys
import threading


class Stumble(Exception):
    """Raised, and caught, by children only."""


def work(number):
    try:
        raise Stumble
    except Stumble:
        doubled = number * 2  # @work
    return doubled


def told(pid):
    """How a child ended: its exit code, or minus the signal."""
    _pid, status = os.waitpid(pid, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -os.WTERMSIG(status)


def popen():
    with subprocess.Popen([sys.executable, __file__, "child", "a b", ""]) as child:
        return child.wait()


def run():
    code = (
        "import sys; sys.path.insert(0, %r); "
        "import child_starter; print(sys.argv, child_starter.work(3))"
    )
    folder = os.path.dirname(os.path.abspath(__file__))
    ran = subprocess.run(
        [sys.executable, "-c", code % folder, "x"], capture_output=True, text=True, check=True
    )
    return ran.stdout.strip()


def module():
    folder = os.path.dirname(os.path.abspath(__file__))
    return subprocess.call([sys.executable, "-um", "child_starter", "child", "-m"], cwd=folder)


def shell():
    return subprocess.run("echo from the shell; exit 3", shell=True, check=False).returncode


def posix_spawn():
    argv = [sys.executable, __file__, "child", "spawned"]
    return told(os.posix_spawn(sys.executable, argv, os.environ))


def spawnv():
    return os.spawnv(os.P_WAIT, "/bin/sh", ["sh", "-c", "exit 4"])


def fork_returns():
    """The child leaves like its parent would, through the end of the program."""
    pid = os.fork()  # @fork
    if pid == 0:
        raise SystemExit(work(2))
    return told(pid)


def fork_exits():
    pid = os.fork()
    if pid == 0:
        os._exit(work(3))
    return told(pid)


def fork_execs():
    pid = os.fork()
    if pid == 0:
        os.execv(sys.executable, [sys.executable, __file__, "child", "exec"])
    return told(pid)


def fork_beside_threads():
    release = threading.Event()
    others = [threading.Thread(target=release.wait) for _ in range(3)]
    for thread in others:
        thread.start()
    pid = fork_in_a_thread_of_its_own()
    release.set()
    for thread in others:
        thread.join()
    return pid


def fork_in_a_thread_of_its_own():
    answers = []
    thread = threading.Thread(target=lambda: answers.append(fork_exits()))
    thread.start()
    thread.join()
    return answers


def pool(method):
    context = multiprocessing.get_context(method)
    with context.Pool(2) as workers:
        return workers.map(work, range(4))


def process(method):
    started = multiprocessing.get_context(method).Process(target=work, args=(2,))
    started.start()
    started.join()
    return started.exitcode


def fork_process():
    return process("fork")


def spawn_process():
    return process("spawn")


def forkserver_process():
    return process("forkserver")


def fork_pool():
    return pool("fork")


def spawn_pool():
    return pool("spawn")


def forkserver_pool():
    return pool("forkserver")


def executor():
    with concurrent.futures.ProcessPoolExecutor(2) as workers:
        return list(workers.map(work, range(4)))


def waits_for_child():
    """Its child works, then waits for ever."""
    pid = os.fork()
    if not pid:
        work(2)
        while True:
            signal.pause()
    return told(pid)


def daemon():
    if os.fork():
        os._exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    return work(5)


def at_once():
    return [subprocess.call([sys.executable, "-c", ""]), subprocess.call(["true"])]


def leave():
    """Its child may outlive it."""
    return bool(subprocess.Popen([sys.executable, __file__, "child"]).pid)


def several():
    """Many at once, each going its own way."""
    started = [
        subprocess.Popen([sys.executable, __file__, "child", str(number)], stdout=subprocess.PIPE)
        for number in range(4)
    ]
    return [child.communicate()[0].decode().split()[-1] for child in started]


def grandchild():
    argv = [sys.executable, __file__, "popen"]
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout


def child(*args):
    print("child", sys.argv[1:], work(len(args)), flush=True)
    raise SystemExit(7)


def main(ways):
    for way in ways:
        shown = globals()[way]()  # @start
        print(way, shown, flush=True)  # @done


if __name__ == "__main__":
    if sys.argv[1] == "child":
        child(*sys.argv[2:])
    main(sys.argv[1:])
    print("end")  # @end
