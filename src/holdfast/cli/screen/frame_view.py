"""The selected frame of a stop, and the panes that show it."""

from __future__ import annotations

from dataclasses import dataclass, field

from holdfast.cli.screen.debug_state import DebugState, Frame, SourceFile, Stack, Value, Watch
from holdfast.cli.screen.list_panes import StackPane, ThreadPane
from holdfast.cli.screen.request_threads import RequestThreads
from holdfast.cli.screen.session_client import SessionClient
from holdfast.cli.screen.source_pane import CurrentLine, SourcePane
from holdfast.cli.screen.value_tree import Entry, ValueTree, WatchTree
from holdfast.client.http_client import ApiError

_ALL_FRAMES = 10_000
_GLOBALS = "Globals"


@dataclass(frozen=True)
class FramePanes:
    """The panes whose content depends on the selected frame."""

    source: SourcePane = field(default_factory=SourcePane)
    variables: ValueTree = field(default_factory=lambda: ValueTree("variables"))
    watches: WatchTree = field(default_factory=lambda: WatchTree("watches"))
    stack: StackPane = field(default_factory=lambda: StackPane("stack"))
    threads: ThreadPane = field(default_factory=lambda: ThreadPane("threads"))


class FrameView:
    """Knows which frame of which thread a person looks at, and fills the panes with it."""

    def __init__(self, client: SessionClient, requests: RequestThreads) -> None:
        self.panes = FramePanes()
        self.thread_id = 0
        self._client, self._call = client, requests.call
        self._state = DebugState("")
        self._stack = Stack()
        self._index = 0
        self._shown_place: object = None
        """The stop and the frame that the source was shown for."""
        self._sources: dict[str, SourceFile] = {}

    @property
    def frame(self) -> Frame | None:
        frames = self._stack.frames
        return frames[self._index] if self._index < len(frames) else None

    @property
    def frame_id(self) -> int:
        return 0 if self.frame is None else self.frame.id

    # -- the state of the program ----------------------------------------------------------------

    async def show(self, state: DebugState) -> None:
        """Show where the program is now. A new stop is shown from its innermost frame."""
        last, self._state = self._state, state
        if not state.is_paused:
            self._show_running()
        else:
            if state.hold_id != last.hold_id:
                self.thread_id, self._index = state.thread_id, 0
                self._stack = state.stack
            self.panes.threads.show(state.threads, self.thread_id)
            await self._show_frame()
        self._mark_breakpoints()

    def _show_running(self) -> None:
        self._stack = Stack()
        self.panes.stack.show(self._stack, 0)
        self.panes.threads.show(self._state.threads, 0)
        self.panes.source.unmark()
        if self._state.is_over:
            self.panes.variables.clear_values()
        self.panes.variables.show_running()
        self.panes.watches.show_watches(self._state.watches, None, None)

    def _mark_breakpoints(self) -> None:
        source = self.panes.source
        points = {p.line: p for p in self._state.breakpoints if p.file == source.file.path}
        source.show_breakpoints(points)

    async def _show_frame(self) -> None:
        """The selected frame: its line, its variables, and the watches in it."""
        frame, index = self.frame, self._index
        self.panes.stack.show(self._stack, index)
        if frame is None:
            self.panes.variables.clear_values()
            return
        stop = (self._state.hold_id, self.thread_id)
        if self._shown_place != (stop, index):  # otherwise a person may have opened another file
            self._shown_place = (stop, index)
            file = await self._read_source(frame)
            self.panes.source.show(file, CurrentLine(frame.line, index == 0))
        values = await self._read_values(frame)
        if values is None:
            return
        entries, watches = values
        key = (self.thread_id, self._stack.total - index, frame.function, frame.file)
        self.panes.variables.show(entries, key, stop)
        self.panes.watches.show_watches(watches, key, stop)

    # -- another frame ---------------------------------------------------------------------------

    def choose_frame(self, index: int) -> None:
        """Select another frame. It is shown with the next state."""
        self._index = max(0, min(index, len(self._stack.frames) - 1))

    def move(self, step: int) -> None:
        self.choose_frame(self._index + step)

    async def choose_thread(self, thread_id: int) -> None:
        stack = await self._call(self._client.read_stack, thread_id)
        self.thread_id, self._stack, self._index = thread_id, stack, 0

    async def read_whole_stack(self) -> None:
        self._stack = await self._call(self._client.read_stack, self.thread_id, _ALL_FRAMES)

    # -- the source ------------------------------------------------------------------------------

    async def open(self, path: str, line: int) -> None:
        """Show any file."""
        if path not in self._sources:
            self._sources[path] = await self._call(self._client.read_source, path)
        frame, current = self.frame, None
        if frame is not None and frame.file == path:
            current = CurrentLine(frame.line, self._index == 0)
        self.panes.source.show(self._sources[path], current)
        self.panes.source.move_to(line)

    async def open_if_there(self, path: str) -> None:
        """Show a file where there is no stop to show."""
        try:
            await self.open(path, 1)
        except ApiError:  # it is gone, or no text
            return
        self._mark_breakpoints()

    def return_to_frame(self) -> None:
        """Show the line of the frame again, with the next state."""
        self._shown_place = None
        if self.frame is not None:
            self.panes.source.move_to(self.frame.line)

    def forget_sources(self) -> None:
        """The files may have changed."""
        self._sources.clear()

    async def _read_source(self, frame: Frame) -> SourceFile:
        if frame.file not in self._sources:
            self._sources[frame.file] = await self._load_source(frame)
        return self._sources[frame.file]

    async def _load_source(self, frame: Frame) -> SourceFile:
        read = self._client.read_source
        try:
            return await self._call(read, frame.file)
        except ApiError:  # no file: perhaps the program has it
            try:
                return await self._call(read, frame.file, frame.id)
            except ApiError as problem:
                return SourceFile(frame.file, f"# no source: {problem}")

    # -- values ----------------------------------------------------------------------------------

    async def unfold(self, event: ValueTree.ChildrenWanted) -> None:
        """Show what a value holds. Nothing, if the program has run on."""
        entry = event.node.data
        if entry is None:
            return
        read = self._client.read_children
        try:
            page = await self._call(read, entry.value.reference, entry.start)
        except ApiError:  # an event about it is on its way
            return
        event.tree.show_children(event.node, page)

    async def _read_values(self, frame: Frame) -> tuple[list[Entry], tuple[Watch, ...]] | None:
        """The variables and the watches of a frame. None, if the stop is over meanwhile."""
        watches, hold_id = self._state.watches, self._state.hold_id
        if frame.id < 0:  # its stack was read from outside
            return [], watches
        try:
            page = await self._call(self._client.read_variables, frame.id, hold_id)
            scopes = await self._call(self._client.read_scopes, frame.id, hold_id)
        except ApiError as problem:
            if problem.status == 409:  # an event about that is on its way
                return None
            return [Entry((), Value("not read", str(problem), is_error=True))], (
                watches if frame.id == 0 else ()
            )
        entries = [Entry((value.name,), value) for value in page.values]
        if _GLOBALS in scopes:
            scope = Value(_GLOBALS.lower(), "", "", scopes[_GLOBALS])
            entries.append(Entry((_GLOBALS,), scope))
        if frame.id != 0:
            evaluate = self._client.evaluate_watch
            watches = tuple([await self._call(evaluate, watch, frame.id) for watch in watches])
        return entries, watches
