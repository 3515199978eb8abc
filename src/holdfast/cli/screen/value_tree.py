"""A tree of values that unfold when they are opened: the variables, and the watches."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Tree
from textual.widgets.tree import TreeNode, UnknownNodeID

from holdfast.cli.screen.debug_state import Value, ValuePage, Watch
from holdfast.cli.screen.plain_text import shorten

Path = tuple[str, ...]
_MAX_CHARS = 200
_MAX_FRAMES = 64


@dataclass(frozen=True)
class Entry:
    """What a node of the tree is about."""

    path: Path
    value: Value
    start: int = 0
    """From which child on its reference is to be unfolded."""
    id: str = ""


@dataclass(frozen=True)
class _FrameTexts:
    """The values of a frame by their paths, at a stop and at the one before in the same frame."""

    stop: Hashable
    before: dict[Path, str]
    now: dict[Path, str] = field(default_factory=dict)


Node = TreeNode[Entry]


class ValueTree(Tree[Entry]):
    """Values; those that differ from the last stop in the same frame stand out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "open", "unfold", show=False),
        Binding("left", "fold", "fold", show=False),
    ]
    DEFAULT_CSS = """
    ValueTree { border: round $primary; background: $background; padding: 0; }
    ValueTree:focus { border: round $accent; }
    ValueTree.stale { opacity: 55%; }
    """

    class ChildrenWanted(Message):
        """A value was opened that was not unfolded yet."""

        def __init__(self, tree: ValueTree, node: Node) -> None:
            super().__init__()
            self.tree, self.node = tree, node

    def __init__(self, title: str) -> None:
        super().__init__("", id=title)
        self.border_title = title
        self.show_root = False
        self.guide_depth = 2
        self._open: set[Path] = set()
        self._filled_with: object = None
        self._frames: OrderedDict[Hashable, _FrameTexts] = OrderedDict()
        self._shown = _FrameTexts(None, {})

    # -- what is shown ---------------------------------------------------------------------------

    def show(self, entries: list[Entry], frame: Hashable, stop: Hashable) -> None:
        """Show the values of a frame at a stop."""
        self.set_class(False, "stale")
        shown = (entries, frame, stop)
        if shown == self._filled_with:
            self._ask_for_children_again(self.root)
            return
        self._filled_with = shown
        self._begin(frame, stop)
        line = self.cursor_line
        self.root.remove_children()
        for entry in entries:
            self._add(self.root, entry)
        self.root.expand()
        # The lines are made when the tree is drawn.
        self.call_after_refresh(self._restore_cursor, line)

    def _ask_for_children_again(self, node: Node) -> None:
        """What is unfolded may have changed inside, for instance by an expression."""
        for child in node.children:
            if child.is_expanded and child.children:
                self.post_message(self.ChildrenWanted(self, child))
                self._ask_for_children_again(child)

    def show_children(self, node: Node, page: ValuePage) -> None:
        """Unfold a node. Nothing, if other values have been shown meanwhile."""
        entry = node.data
        if entry is None or node.parent is None or not self._has(node):
            return
        if node.children:
            if _shows(node, page):
                return
            self.call_after_refresh(self._restore_cursor, self.cursor_line)
            node.remove_children()
        parent = node
        if entry.start:  # it stands for the rest of its parent's children
            parent = node.parent
            node.remove()
        for index, value in enumerate(page.values, page.start):
            # Names may occur twice, as in a dict with 1 and True-like keys.
            self._add(parent, Entry((*entry.path, f"{index}:{value.name}"), value))
        if page.next_start is not None:
            rest = Value(f"… {page.total - page.next_start} more", "", "", entry.value.reference)
            self._add(parent, Entry(entry.path, rest, page.next_start))

    def _has(self, node: Node) -> bool:
        try:
            return self.get_node_by_id(node.id) is node
        except UnknownNodeID:
            return False

    def show_running(self) -> None:
        """What is shown is of the last stop."""
        self.set_class(bool(self.root.children), "stale")

    def clear_values(self) -> None:
        self._filled_with = None
        self.root.remove_children()

    def _begin(self, frame: Hashable, stop: Hashable) -> None:
        """Find what was shown of this frame before, to see what is new."""
        last = self._frames.get(frame)
        if last is None or last.stop != stop:
            last = _FrameTexts(stop, {} if last is None else last.now)
            self._frames[frame] = last
        self._shown = last
        self._frames.move_to_end(frame)
        while len(self._frames) > _MAX_FRAMES:
            self._frames.popitem(last=False)

    def _add(self, parent: Node, entry: Entry) -> None:
        value = entry.value
        is_new = not entry.start and self._compare(entry)
        label = _format_value(value, is_new)
        if not value.reference:
            parent.add_leaf(label, entry)
            return
        is_open = not entry.start and entry.path in self._open
        parent.add(label, entry, expand=is_open)
        if is_open:
            self.post_message(self.ChildrenWanted(self, parent.children[-1]))

    def _compare(self, entry: Entry) -> bool:
        """Whether a value is new. With nothing to compare it with, none is."""
        self._shown.now[entry.path] = text = entry.value.text
        return bool(self._shown.before) and self._shown.before.get(entry.path) != text

    def _restore_cursor(self, line: int) -> None:
        if self.last_line >= 0:
            self.cursor_line = min(max(line, 0), self.last_line)

    # -- keys ------------------------------------------------------------------------------------

    def on_tree_node_expanded(self, event: Tree.NodeExpanded[Entry]) -> None:
        entry = event.node.data
        if entry is None:
            return
        if not entry.start:
            self._open.add(entry.path)
        if not event.node.children:
            self.post_message(self.ChildrenWanted(self, event.node))

    def on_tree_node_collapsed(self, event: Tree.NodeCollapsed[Entry]) -> None:
        if event.node.data is not None:
            self._open.discard(event.node.data.path)

    def action_open(self) -> None:
        if self.cursor_node is not None and self.cursor_node.allow_expand:
            self.cursor_node.expand()

    def action_fold(self) -> None:
        node = self.cursor_node
        if node is None:
            return
        if node.is_expanded and node.allow_expand:
            node.collapse()
        elif node.parent is not None and not node.parent.is_root:
            self.move_cursor(node.parent)


class WatchTree(ValueTree):
    """The expressions that are watched."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("delete,backspace", "remove", "remove the watch", show=False),
    ]

    class RemovalWanted(Message):
        def __init__(self, watch_id: str) -> None:
            super().__init__()
            self.watch_id = watch_id

    def show_watches(self, watches: tuple[Watch, ...], frame: Hashable, stop: Hashable) -> None:
        entries = [Entry((watch.value.name,), watch.value, id=watch.id) for watch in watches]
        self.display = bool(entries)
        self.show(entries, frame, stop)

    def action_remove(self) -> None:
        node = self.cursor_node
        while node is not None and node.parent is not None and not node.parent.is_root:
            node = node.parent
        if node is not None and node.data is not None and node.data.id:
            self.post_message(self.RemovalWanted(node.data.id))


def _shows(node: Node, page: ValuePage) -> bool:
    """Whether the children of a node are those of a page, with more only if there are more."""
    shown = [child.data.value for child in node.children if child.data is not None]
    count = len(page.values)
    return shown[:count] == list(page.values) and (
        page.next_start is not None or count == len(shown)
    )


def _format_value(value: Value, is_new: bool) -> Text:
    text = Text(no_wrap=True, end="")
    text.append(shorten(value.name, _MAX_CHARS), style="bold")
    if value.text:
        text.append(" = ")
        style = "bold reverse" if is_new else "red" if value.is_error else ""
        text.append(shorten(value.text, _MAX_CHARS), style=style)
    if value.type and value.type != "NoneType":
        text.append(f"  {shorten(value.type, 40)}", style="dim")
    return text
