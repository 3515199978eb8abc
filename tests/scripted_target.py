"""A target without a process: stands in for an interpreter, behind the port that starts one.

`ScriptedProcesses.spawn` takes the place of `process_spawner.spawn`. It gets what an interpreter
would get, the socket of the debugger and the three pipes, and speaks the probe's messages there.
The launcher, the connection, the pipes and `Target` stay real.

The script is a short Python file or text. It runs in a thread that takes turns with the event loop:
while it runs the loop stands still, and it stands still at each stop, `input` and `time.sleep`. So
nothing depends on which of the two is faster. Its sleeps go by the loop's clock.

It has one thread, one file and a few modules. What the probe can do beyond that is refused.
`service/test_scripted_target_contract.py` compares it with a real interpreter.
"""

from __future__ import annotations

import asyncio
import builtins
import functools
import os
import socket
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import holdfast.probe.breakpoint_table  # noqa: F401  (first: the others need it)
from holdfast.probe import breakpoint_rules, variables
from holdfast.probe.frames import mark_of, read_globals, read_locals
from holdfast.probe.pydevd_access import RequestFailed
from holdfast.targets.program import warden
from holdfast.targets.program.process_spawner import Spawned
from holdfast.wire import dap
from scripted_process import ScriptedProcess, Streams, Turns

_THREAD = 1
_BUSY_LINES = 20_000  # in one turn: so many make a program that only a pause can stop
_MAX_FRAMES = 20
_MAX_LOCALS = 200
_MODULES = {"collections", "dataclasses", "json", "sys", "threading", "time"}
"""What a script may import. It runs in the test's own process, and must not reach into that."""

Frame = tuple[types.FrameType, int]  # and the line to show for it


# -- processes -------------------------------------------------------------------------------------


class ScriptedProcesses:
    """Starts scripted targets in the running loop."""

    async def spawn(
        self,
        argv: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stdin: int | None = None,
        stdout: int | None = None,
        stderr: int | None = None,
        pass_fds: Sequence[int] = (),
        tag: int | None = None,
    ) -> Spawned:
        streams = [os.dup(each) for each in (stdin, stdout, stderr) if each is not None]
        if os.path.abspath(warden.__file__) in argv:
            return _start_idle_warden(streams[0])
        assert len(pass_fds) == 1, "a scripted target has no terminal"
        program = ScriptedProgram(streams, tag)
        connection = socket.socket(fileno=os.dup(pass_fds[0]))
        connection.setblocking(False)
        await asyncio.get_running_loop().create_connection(lambda: program, sock=connection)
        if not os.path.isdir((env or {}).get("PYTHONHOME", "/")):
            program.fail("Fatal Python error: it has no standard library")
        return program.process


def _start_idle_warden(pipe: int) -> ScriptedProcess:
    """There are no processes to end. It goes when its pipe is closed, as a warden does."""
    loop = asyncio.get_running_loop()

    def end(code: int) -> None:
        loop.remove_reader(pipe)
        os.close(pipe)
        process.note_end(code)

    process = ScriptedProcess(end, None)
    loop.add_reader(pipe, lambda: None if os.read(pipe, 4096) else end(0))
    return process


# -- breakpoints ----------------------------------------------------------------------------------


class _Rule(breakpoint_rules.Rule):
    """A breakpoint of the probe, which reports to the server of this script."""

    def __init__(self, spec: dict[str, Any], program: ScriptedProgram) -> None:
        super().__init__(spec, "")
        self._program = program

    def is_of(self, code: types.CodeType) -> bool:
        places = (self.function or {}).get("places", ())
        begin = (code.co_filename, code.co_firstlineno)
        return any((place["file"], place["first_line"]) == begin for place in places)

    def _note_error(
        self, expression: Any, error: BaseException, field: str, stops: bool = False
    ) -> bool:
        count = self.errors[expression.text] = self.errors.get(expression.text, 0) + 1
        if count == 1:
            told = {"id": self.id, "error": f"{type(error).__name__}: {error}", "field": field}
            told.update(expression=expression.text, stops=stops)
            self._program.report("breakpoint_error", **told)
        return count == 1

    def _write_log(self, frame: types.FrameType) -> None:
        text = "".join(
            part if isinstance(part, str) else self._format_part(frame, *part)
            for part in self.log or ()
        )
        where = {"file": frame.f_code.co_filename, "line": frame.f_lineno}
        self._program.streams.wait_until_read()
        self._program.report("log", id=self.id, text=text, is_in_order=True, **where)


# -- the program ----------------------------------------------------------------------------------


class ScriptedProgram(asyncio.Protocol):
    """A script under a debugger: the far end of the connection of a `Target`."""

    def __init__(self, streams: list[int], tag: int | None) -> None:
        self.process = ScriptedProcess(self._kill, tag)
        self._loop = asyncio.get_running_loop()
        self._framer = dap.Framer()
        self._transport: Any = None
        self._outbox: list[bytes] = []
        self._turns = Turns(self._run)
        self._turns.on_return = self._go_on
        self.streams = Streams(streams, self._turns, self.report)
        self._spec: dict[str, Any] = {}
        self._code: types.CodeType | None = None
        self._exit_code: int | None = None
        self._rules: dict[str, list[_Rule]] = {}  # by file; functions have none
        # What to stop for next.
        self._stops_on_entry = self._pauses = False
        self._stops_at_errors = self._stops_at_raises = False
        self._step: tuple[str, types.FrameType | None] | None = None
        self._lines = 0
        self._is_busy = False
        # The stop.
        self._frames: list[Frame] | None = None
        self._hit_ids: list[int] = []
        self._error: BaseException | None = None
        self._returned: list[tuple[str, Any]] = []
        self._handles = variables.Handles()

    # -- the connection ---------------------------------------------------------------------

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        for message in self._framer.feed(data):
            self._receive(message)
        self._send_all()

    def _send(self, message: dict[str, Any]) -> None:
        """Keep a message until the loop has its turn: it alone may write to the connection."""
        self._outbox.append(dap.encode({"seq": 0, **message}))

    def _send_all(self) -> None:
        sent, self._outbox = self._outbox, []
        if not self._transport.is_closing():
            self._transport.write(b"".join(sent))

    def report(self, kind: str, **body: Any) -> None:
        self._send({"type": "event", "event": "holdfast", "body": {**body, "kind": kind}})

    def _receive(self, message: Any) -> None:
        command, arguments = message["command"], message.get("arguments") or {}
        answer = {"type": "response", "request_seq": message["seq"], "command": command}
        body: Any = {}
        act: Callable[[], None] | None = None
        try:
            if arguments.get("thread", _THREAD) != _THREAD:
                raise RequestFailed("thread", f"no thread {arguments['thread']!r}")
            if command == "holdfast":
                body = getattr(self, f"_on_{arguments['op']}", self._refuse)(arguments)
            else:
                act = self._command(command, arguments)
            self._send({**answer, "success": True, "body": body})
        except Exception as error:
            failure = error if isinstance(error, RequestFailed) else RequestFailed("internal", "")
            body = {"kind": failure.kind, "details": failure.details}
            self._send({**answer, "success": False, "body": body, "message": str(error)})
        if act is not None:
            act()

    def _refuse(self, args: dict[str, Any]) -> Any:
        raise RequestFailed("internal", f"a scripted target cannot do that: {args}")

    def _command(self, command: str, args: dict[str, Any]) -> Callable[[], None] | None:
        """A request of the protocol itself; what it returns is done after the answer."""
        if command in ("continue", "next", "stepIn", "stepOut"):
            step = None if command == "continue" else command
            return functools.partial(self._resume, step)
        if command == "launch":
            self._stops_on_entry = bool(args.get("stopOnEntry"))
        elif command == "configurationDone":
            return self._turns.give if self._code else None
        elif command == "pause":
            self._pauses = self._frames is None
            return self._turns.give if self._is_busy else None
        elif command != "initialize":
            self._refuse(args)
        return None

    def _resume(self, step: str | None) -> None:
        if self._frames is not None:
            self._step = (step, self._frames[0][0]) if step else None
            self._frames, self._error = None, None
            self._hit_ids, self._returned = [], []
            self._handles.drop(_THREAD)
            self._turns.give()

    def _go_on(self) -> None:
        """The loop's turn: send what the script reported, and see whether it has ended."""
        self._lines = 0
        self._send_all()
        if self._exit_code is not None:
            self._end(self._exit_code)

    def fail(self, message: str) -> None:
        """End before the start, as an interpreter that is broken."""
        self.streams.stderr.write(f"{message}\n")
        self._end(1)

    def _kill(self, code: int) -> None:
        self._end(code)
        self._turns.kill()

    def _end(self, code: int) -> None:
        """The process is gone, and with it all that it held open."""
        if self.process.returncode is None:
            self.process.note_end(code)
            self._transport.close()
            self.streams.close()

    # -- our own requests -------------------------------------------------------------------

    def _on_hello(self, _args: dict[str, Any]) -> Any:
        return {
            "pid": self.process.pid,
            "ppid": os.getpid(),
            "version": list(sys.version_info[:3]),
            "path": sys.path,
            "patches": {},
        }

    def _on_program(self, args: dict[str, Any]) -> Any:
        self._spec = args["spec"]
        if "module" in self._spec:
            self._refuse(args)
        file = self._spec.get("script") or "<string>"
        source = self._spec.get("code")
        if source is None:
            with open(file, encoding="utf-8") as script:
                source = script.read()
        try:
            self._code = compile(source, file, "exec", dont_inherit=True)
        except SyntaxError as error:
            self._loop.call_soon(self._end, 0)
            text = (error.text or "").rstrip("\n")
            where = {"file": error.filename, "line": error.lineno, "offset": error.offset}
            return {"syntax_error": {**where, "message": error.msg, "text": text}}
        return self._on_hello({})

    def _on_breakpoints(self, args: dict[str, Any]) -> Any:
        before = {rule.id: rule for rule in self._rules.get(args.get("file", ""), ())}
        rules = self._rules[args.get("file", "")] = []
        for spec in args["breakpoints"]:
            rules.append(_Rule(spec, self))
            if spec["id"] in before and spec.get("keep_hits"):
                rules[-1].continue_counts(before[spec["id"]])
        return {}

    _on_functions = _on_breakpoints

    def _on_exceptions(self, args: dict[str, Any]) -> Any:
        self._stops_at_errors = "uncaught" in args["filters"]
        self._stops_at_raises = "raised" in args["filters"]
        return {}

    def _on_hits(self, _args: dict[str, Any]) -> Any:
        return self._count()["hits"]

    def _count(self) -> dict[str, Any]:
        rules = [rule for rules in self._rules.values() for rule in rules]
        return {
            "hits": {str(rule.id): rule.hits for rule in rules},
            "passes": {str(rule.id): rule.passes for rule in rules if rule.passes},
            "errors": [
                {"id": rule.id, "expression": text, "count": count}
                for rule in rules
                for text, count in rule.errors.items()
            ],
        }

    def _on_threads(self, _args: dict[str, Any]) -> Any:
        status = "running" if self._frames is None else "paused"
        thread = {**self._describe_thread(), "daemon": False, "status": status}
        if self._hit_ids:
            thread["breakpoints"] = self._hit_ids
        for frame, line in self._list_frames()[:1]:
            place = {"file": frame.f_code.co_filename, "line": line}
            thread["location"] = {**place, "function": frame.f_code.co_name}
        return {"threads": [thread]}

    def _describe_thread(self) -> dict[str, Any]:
        return {"id": _THREAD, "name": "MainThread", "ident": self._turns.thread.ident}

    def _on_stack(self, args: dict[str, Any]) -> Any:
        frames = self._list_frames()
        start, count = args.get("start", 0), args.get("count")
        shown = frames[start : None if count is None else start + count]
        return {
            "frames": [{**_describe_frame(*pair), "mark": mark_of(pair[0])} for pair in shown],
            "total": len(frames),
            "suspended": self._frames is not None,
        }

    def _list_frames(self) -> list[Frame]:
        if self._frames is not None:
            return self._frames
        top = sys._current_frames().get(self._turns.thread.ident or 0)
        return self._list_stack(top)

    def _find_frame(self, args: dict[str, Any]) -> types.FrameType:
        if self._frames is None:
            raise RequestFailed("resumed", "the thread is running")
        depth: int = args.get("depth", 0)
        if depth >= len(self._frames):
            raise RequestFailed("frame", f"no frame {depth} in this thread")
        return self._frames[depth][0]

    def _on_scopes(self, args: dict[str, Any]) -> Any:
        frame = self._find_frame(args)
        named = [("Locals", read_locals(frame)), ("Globals", read_globals(frame))]
        return {
            "scopes": [
                {
                    "name": name,
                    "reference": self._handles.add(_THREAD, names, name, kind="scope"),
                    "count": len(names),
                }
                for name, names in named
            ]
        }

    def _on_locals(self, args: dict[str, Any]) -> Any:
        names = read_locals(self._find_frame(args))
        start = args.get("start", 0)
        page = list(names.items())[start : start + args["count"]]
        limits = (args.get("summary", False), args.get("max_chars"))
        described = variables.describe_all(page, self._handles, _THREAD, *limits)
        return {"variables": described, "total": len(names)}

    def _on_variables(self, args: dict[str, Any]) -> Any:
        names = ("start", "count", "summary", "max_chars", "part")
        more = {name: args[name] for name in names if name in args}
        try:
            return variables.expand(self._handles, args["reference"], **more)
        except KeyError:
            message = f"reference {args['reference']} is not valid (any more)"
            raise RequestFailed("reference", message) from None

    def _on_evaluate(self, args: dict[str, Any]) -> Any:
        shown = {name: args.get(name) for name in ("max_chars", "start", "count")}
        frame = self._find_frame(args)
        try:
            return self._evaluate(frame, args["expression"], args.get("context"), **shown)
        except Exception as error:
            raise _describe_failure(error) from None

    def _on_watches(self, args: dict[str, Any]) -> Any:
        frame = self._find_frame(args)
        values: list[dict[str, Any]] = []
        for text in args["expressions"]:
            try:
                values.append(self._evaluate(frame, text, "watch"))
            except Exception as error:
                values.append({"error": str(_describe_failure(error))})
        return {"values": values}

    def _evaluate(self, frame: types.FrameType, text: str, context: Any, **shown: Any) -> Any:
        try:
            code = compile(text.strip(), "<string>", "eval")
        except SyntaxError:
            if context in ("hover", "watch"):
                raise
            code = compile(text, "<string>", "exec")
        value = eval(code, frame.f_globals, frame.f_locals)
        return variables.describe_result(value, text, self._handles, _THREAD, **shown)

    def _on_exception(self, _args: dict[str, Any]) -> Any:
        if self._error is None:
            raise RequestFailed("exception", "the thread is not stopped at an exception")
        return self._describe_exception(self._error)

    def _on_source(self, args: dict[str, Any]) -> Any:
        raise RequestFailed("source", f"the target has no source for {args['path']}")

    # -- running, in the script's thread ------------------------------------------------------

    def _run(self) -> None:
        body = {"reason": "started", "threadId": _THREAD, "ident": threading.get_ident()}
        self._send({"type": "event", "event": "thread", "body": body})
        try:
            code = self._run_script()
        finally:
            sys.settrace(None)
        self.report("counts", **self._count())
        self._exit_code = code

    def _run_script(self) -> int:
        assert self._code is not None
        names = self._build_names()
        try:
            sys.settrace(self._trace_call)
            exec(self._code, names)
        except SystemExit as error:
            sys.settrace(None)
            if error.code is not None and not isinstance(error.code, int):
                self.streams.stderr.write(f"{error.code}\n")
            code = error.code if isinstance(error.code, int) else int(error.code is not None)
            if code:
                self.report("exception", exception=self._describe_exception(error))
            return code
        except Exception as error:
            sys.settrace(None)
            error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
            if self._stops_at_errors:
                self._stop_at(error)
            self.report("exception", exception=self._describe_exception(error))
            traceback.print_exception(error, file=self.streams.stderr)
            return 1
        return 0

    def _build_names(self) -> dict[str, Any]:
        """The names of `__main__`. What would wait, or write, does so in the way of a script."""
        own = {**vars(builtins), "input": self.streams.input, "__import__": self._import}
        own["print"] = functools.partial(print, file=self.streams.stdout)
        names = {**vars(types.ModuleType("__main__")), "__builtins__": own}
        if "script" in self._spec:
            names["__file__"] = self._spec["script"]
        return names

    def _import(self, name: str, *rest: Any) -> Any:
        if name not in _MODULES:
            raise ImportError(f"a scripted target has no module {name!r}")
        found = __import__(name, *rest)
        argv = [self._spec.get("given", "-c"), *self._spec.get("args", ())]
        streams = {"stdout": self.streams.stdout, "stderr": self.streams.stderr}
        changed: dict[str, dict[str, Any]] = {
            "sys": {"argv": argv, "stdin": self.streams, **streams},
            "time": {"sleep": self._sleep, "monotonic": self._loop.time},
        }
        if name in changed:
            found = types.ModuleType(name)
            vars(found).update(vars(sys.modules[name]), **changed[name])
        return found

    def _sleep(self, seconds: float) -> None:
        self._turns.give_back(lambda: self._loop.call_later(seconds, self._turns.give))

    # -- the tracer -------------------------------------------------------------------------

    def _trace_call(self, frame: types.FrameType, _event: str, _argument: Any) -> Any:
        if self._code is None or frame.f_code.co_filename != self._code.co_filename:
            return None
        rules = [rule for rule in self._rules.get("", ()) if rule.is_of(frame.f_code)]
        self._stop_for(rules, frame, "function breakpoint")
        return self._trace

    def _trace(self, frame: types.FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self._trace_line(frame)
        elif event == "return" and self._step is not None:
            self._trace_return(frame, argument)
        elif event == "exception" and self._stops_at_raises:
            raise NotImplementedError("a scripted target does not stop where something is raised")
        return self._trace

    def _trace_line(self, frame: types.FrameType) -> None:
        self._lines += 1
        if self._lines == _BUSY_LINES:
            self._is_busy = True
            self._turns.give_back()
            self._is_busy = False
        here = self._rules.get(frame.f_code.co_filename, ())
        if self._stop_for([rule for rule in here if rule.line == frame.f_lineno], frame):
            return
        kind, start = self._step or (None, None)
        if self._stops_on_entry:
            self._stop(frame, "entry")
        elif self._pauses:
            self._stop(frame, "pause")
        elif kind == "stepIn" or (kind and (start is None or (kind == "next" and frame is start))):
            self._stop(frame, "step")

    def _trace_return(self, frame: types.FrameType, value: Any) -> None:
        kind, start = self._step or ("", None)
        stack = self._list_stack(frame)
        ends_step = frame is start or kind == "stepIn"
        if len(stack) > 1 and (ends_step or (kind == "next" and stack[1][0] is start)):
            self._returned.append((frame.f_code.co_name, value))
            if ends_step:
                self._stop(stack[1][0], "step")

    # -- stops ------------------------------------------------------------------------------

    def _stop_for(
        self, rules: list[_Rule], frame: types.FrameType, reason: str = "breakpoint"
    ) -> bool:
        """Stop if a rule says so."""
        self._hit_ids = stopping = breakpoint_rules.find_stopping(rules, frame)
        if not stopping:
            return False
        hits = [{"id": rule.id, "hits": rule.hits} for rule in rules if rule.id in stopping]
        failure = breakpoint_rules.take_failed_condition(threading.get_ident(), stopping)
        more = {} if failure is None else {"condition_error": failure}
        self._stop(frame, reason, breakpoints=hits, **more)
        return True

    def _stop_at(self, error: BaseException) -> None:
        self._error = error
        frames = self._list_raised_frames(error)
        kind = type(error)
        described = {"type": kind.__qualname__, "module": kind.__module__, "message": str(error)}
        self._stop_in(frames, "exception", exception=described)

    def _stop(self, frame: types.FrameType, reason: str, **more: Any) -> None:
        self._stop_in(self._list_stack(frame), reason, **more)

    def _stop_in(self, frames: list[Frame], reason: str, **more: Any) -> None:
        self._step, self._pauses, self._stops_on_entry = None, False, False
        top = frames[0][0]
        names = read_locals(top)
        page = list(names.items())[:_MAX_LOCALS]
        snapshot = {
            "frames": [_describe_frame(*pair) for pair in frames[:_MAX_FRAMES]],
            "threads": [self._describe_thread()],
            "locals": variables.describe_all(page, self._handles, _THREAD),
            "locals_total": len(names),
            "frame": id(top),
            "returned": variables.describe_all(self._returned, self._handles, _THREAD),
            "breakpoints": [],
            **more,
        }
        body = {"reason": reason, "threadId": _THREAD, "allThreadsStopped": True}
        self._send({"type": "event", "event": "stopped", "body": {**body, "holdfast": snapshot}})
        self._frames = frames
        self._turns.give_back()

    def _list_stack(self, frame: types.FrameType | None) -> list[Frame]:
        file = self._code.co_filename if self._code else None
        return [pair for pair in _iter_stack(frame) if pair[0].f_code.co_filename == file]

    def _list_raised_frames(self, error: BaseException) -> list[Frame]:
        file = self._code.co_filename if self._code else None
        walked = list(traceback.walk_tb(error.__traceback__))
        return [pair for pair in walked[::-1] if pair[0].f_code.co_filename == file]

    def _describe_exception(self, error: BaseException) -> dict[str, Any]:
        """As the probe does, without what led to it."""
        pairs = self._list_raised_frames(error)
        frames = [{**_describe_frame(*pair), "depth": depth} for depth, pair in enumerate(pairs)]
        if pairs:
            names = read_locals(pairs[0][0])
            shown = variables.describe_all(names.items(), variables.Handles(), "")
            unfolds = ("variable_reference", "reference", "expandable")
            shown = [{k: v for k, v in each.items() if k not in unfolds} for each in shown]
            frames[0].update(locals=shown, locals_total=len(names))
        return {
            "type": type(error).__qualname__,
            "module": type(error).__module__,
            "message": str(error),
            "frames": frames[:_MAX_FRAMES],
            "frames_total": len(frames),
            "causes": [],
        }


def _iter_stack(frame: types.FrameType | None) -> Iterator[Frame]:
    while frame is not None:
        yield frame, frame.f_lineno
        frame = frame.f_back


def _describe_frame(frame: types.FrameType, line: int) -> dict[str, Any]:
    code = frame.f_code
    described = {
        "name": code.co_name,
        "file": code.co_filename,
        "line": line,
        "module": str(frame.f_globals.get("__name__", "")),
    }
    qualname = getattr(code, "co_qualname", code.co_name)
    return described if qualname == code.co_name else {**described, "qualname": qualname}


def _describe_failure(error: Exception) -> RequestFailed:
    name = type(error).__qualname__
    entries = traceback.extract_tb(error.__traceback__)
    where = [f"{e.filename}:{e.lineno} in {e.name}" for e in entries if e.filename != __file__]
    return RequestFailed("raised", f"{name}: {error}", type=name, error=str(error), where=where)
