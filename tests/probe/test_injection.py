"""How the debugger comes into a program that runs; one that fails to leaves it as it was."""

from __future__ import annotations

import subprocess
import textwrap

import pytest

from holdfast.targets.program.launcher import DEBUGPY, PROBE

LOAD = f"""
import json, os, socket, sys, tempfile
with open({str(PROBE / "package_loader.py")!r}, encoding="utf-8") as file:
    exec(compile(file.read(), "package_loader", "exec"), namespace := {{"__name__": "loader"}})
namespace["load_module"]({str(PROBE)!r}, "injection")
from _holdfast import injection, pydevd_control
listener = socket.create_server(("127.0.0.1", 0))
file, ticket = tempfile.mkstemp()
os.write(file, json.dumps({{"address": listener.getsockname(), "secret": "0" * 64}}).encode())
os.close(file)

def is_debugged():
    monitoring = getattr(sys, "monitoring", None)
    tools = [monitoring.get_tool(number) for number in range(6)] if monitoring else []
    return sys.gettrace() is not None or any(tools)
"""


def run(python: str, code: str) -> list[str]:
    done = subprocess.run(
        [python, "-c", LOAD + textwrap.dedent(code) + "os.unlink(ticket)"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


def test_a_debugger_whose_server_is_gone_raises_nothing(python: str) -> None:
    code = f"""
        listener.close()
        injection.enter_process(ticket, {DEBUGPY!r}, "", True)
        print(is_debugged())
    """
    assert run(python, code) == ["False"]


@pytest.mark.slow
def test_a_debugger_that_fails_halfway_says_why_and_traces_nothing(python: str) -> None:
    code = f"""
        arm = pydevd_control.arm
        def fail(connection):
            arm(connection)
            # Before 3.12 nothing is traced while nothing could stop.
            assert is_debugged() == hasattr(sys, "monitoring")
            raise RuntimeError("halfway")
        pydevd_control.arm = fail
        injection.join_ticket._exchange_proofs = lambda connection, ticket: None
        injection.enter_process(ticket, {DEBUGPY!r}, "", True)
        connection = listener.accept()[0]
        said = connection.makefile("rb").read()
        print(b'"message": "RuntimeError: halfway"' in said)
        print(is_debugged())
    """
    assert run(python, code) == ["True", "False"]


def test_a_write_that_the_program_has_replaced_meanwhile_is_left_to_it(python: str) -> None:
    code = """
        from _holdfast import output_capture
        output_capture.start()
        captured = sys.stdout.write
        sys.stdout.write = lambda text: captured(text.upper())
        output_capture.stop()
        print("ours is gone, theirs is not", file=sys.stdout)
        print("write" in vars(sys.stderr), file=sys.stdout)
    """
    assert run(python, code) == ["OURS IS GONE, THEIRS IS NOT", "FALSE"]


def test_a_message_that_the_debugger_takes_no_more_is_not_waited_for(python: str) -> None:
    code = f"""
        import threading
        from _holdfast import server_connection, server_messages
        pydevd_control.load({DEBUGPY!r})
        from _pydevd_bundle.pydevd_net_command import _NullNetCommand

        ours, theirs = socket.socketpair()
        writer = pydevd_control.arm(server_connection.ServerConnection(ours.detach())).writer
        is_sending, go_on = threading.Event(), threading.Event()
        slow = _NullNetCommand()
        slow.send = lambda _socket: (is_sending.set(), go_on.wait())
        writer.add_command(slow)
        is_sending.wait()
        writer.do_kill_pydev_thread()
        add = writer.add_command
        writer.add_command = lambda command: (add(command), go_on.set())
        server_messages.flush(3600)
        print("ended")
        sys.stdout.flush()
        os.unlink(ticket)
        os._exit(0)
    """
    assert run(python, code) == ["ended"]


def test_a_thread_has_one_number_whoever_sees_it_first(python: str) -> None:
    code = f"""
        pydevd_control.load({DEBUGPY!r})
        import threading
        from _holdfast.pydevd_access import dap_id
        from _pydevd_bundle import pydevd_constants
        from _pydevd_bundle._debug_adapter.pydevd_base_schema import BaseSchema

        main = threading.main_thread()
        numbers = []
        other = threading.Thread(target=lambda: numbers.append(number_main_thread()))

        def number_main_thread():
            return dap_id(pydevd_constants.get_thread_id(main))

        class Table(dict):
            "The other thread looks here while this one has found nothing."
            def get(self, known_id):
                found = super().get(known_id)
                if threading.current_thread() is main:
                    other.start()
                    other.join()
                return found

        known = BaseSchema._obj_id_to_dap_id
        BaseSchema._obj_id_to_dap_id = Table(known)
        numbers.append(number_main_thread())
        other.join()
        BaseSchema._obj_id_to_dap_id = dict(BaseSchema._obj_id_to_dap_id)
        # pydevd does this when it looks at the threads for the first time.
        pydevd_constants.clear_cached_thread_id(main)
        numbers.append(number_main_thread())
        print(numbers)
    """
    assert run(python, code) == ["[1, 1, 1]"]


def test_a_thread_that_is_late_at_a_stop_is_not_the_next_stop(python: str) -> None:
    code = f"""
        import threading
        from _holdfast import server_connection, thread_suspension
        pydevd_control.load({DEBUGPY!r})
        import pydevd
        from _pydevd_bundle.pydevd_comm_constants import CMD_SET_BREAK, CMD_THREAD_SUSPEND

        ours, theirs = socket.socketpair()
        db = pydevd_control.arm(server_connection.ServerConnection(ours.detach()))
        db.multi_threads_single_notification = False  # or this thread would be suspended, too
        told = []
        behavior = db._threads_suspended_single_notification
        type(behavior).send_suspend_notification = lambda _self, name, *_: told.append(name)
        first, late, paused = (threading.Thread() for _ in range(3))
        for thread in (first, late, paused):
            db.set_additional_thread_info(thread)

        db.set_suspend(first, CMD_SET_BREAK)
        db.set_suspend(late, CMD_SET_BREAK)
        behavior.on_thread_suspend("first", first, CMD_SET_BREAK)
        thread_suspension._expect_next_stop(db)  # as when a third thread is resumed
        behavior.on_thread_suspend("late", late, CMD_SET_BREAK)
        db.set_suspend(paused, CMD_THREAD_SUSPEND, is_pause=True)
        behavior.on_thread_suspend("paused", paused, CMD_THREAD_SUSPEND)
        print(*told)
        sys.stdout.flush()
        os.unlink(ticket)
        os._exit(0)
    """
    assert run(python, code) == ["first paused"]
