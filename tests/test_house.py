"""What a newcomer relies on: the papers are there, the rooms say what they are, nothing leaks."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import grimp
import pytest

from own_environment import callers_home
from repository_files import ROOT, list_own_files

SOURCE = ROOT / "src" / "holdfast"
ROOMS = sorted(path for path in SOURCE.rglob("__init__.py"))
PAPERS = ["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md", "LICENSE"]

# In two pieces, so that this file does not contain what it forbids.
REGISTRIES = [
    "pypi" + ".org",
    "python" + "hosted.org",
    "registry.npm" + "js.org",
    "yarn" + "pkg.com",
]


def texts() -> dict[str, str]:
    read = {}
    for path in list_own_files():
        try:
            read[str(path.relative_to(ROOT))] = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a picture, or a test's own nonsense
            continue
    return read


def places() -> list[str]:
    """Paths that only this machine has. A short one, such as `/app`, could be found anywhere."""
    home = callers_home()
    return [f"{home}/"] * (home != Path("/")) + [f"{ROOT}/"] * (len(ROOT.parts) > 2)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_newcomer_finds_the_papers(paper: str) -> None:
    assert (ROOT / paper).read_text(encoding="utf-8").strip()


@pytest.mark.parametrize("room", ROOMS, ids=lambda path: path.parent.name)
def test_every_room_says_what_it_is(room: Path) -> None:
    assert ast.get_docstring(ast.parse(room.read_text(encoding="utf-8")))


def test_no_file_names_a_place_on_this_machine() -> None:
    found = {(name, place) for name, text in texts().items() for place in places() if place in text}
    assert not found


def test_no_file_names_a_package_registry() -> None:
    found = {(name, host) for name, text in texts().items() for host in REGISTRIES if host in text}
    assert not found


def test_the_lock_file_pins_every_line() -> None:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "==" not in line and not line.startswith("#")] == []


IMPORTED = """
import sys
sys.path.insert(0, sys.argv[1])
before = set(sys.modules)
import holdfast
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


@pytest.mark.parametrize("options", [["-E"], ["-E", "-S"]], ids=["installed", "bare"])
def test_importing_holdfast_costs_only_the_standard_library(options: list[str]) -> None:
    command = [sys.executable, *options, "-c", IMPORTED, str(SOURCE.parent)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert set(ran.stdout.split()) - sys.stdlib_module_names == {"holdfast"}


def broad_excepts() -> list[str]:
    """Broad `except`s that neither raise nor log nor have a comment with the reason."""
    places = []
    for path in SOURCE.rglob("*.py"):
        if path.relative_to(SOURCE).parts[0] == "probe":
            continue  # it runs inside other people's programs, and must not disturb them
        text = path.read_text(encoding="utf-8")
        if not re.search(r"except *(:|.*Exception)", text):
            continue
        lines = text.splitlines()
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.ExceptHandler):
                continue
            is_broad = node.type is None or ast.unparse(node.type) in ("Exception", "BaseException")
            source = ast.unparse(node)
            has_reason = "#" in "".join(lines[node.lineno - 1 : node.lineno + 1])
            if is_broad and not has_reason and not re.search(r"\braise\b|\blog(ger)?\.", source):
                places.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    return places


def test_a_broad_except_says_why() -> None:
    assert broad_excepts() == []


# They wait for what tells nobody: a condition that only a look can find, and processes that end.
# The last is about code of the user's that sleeps.
_MAY_SLEEP = ["polling.py", "run_watcher.py", "bridge/test_control.py"]


def sleeps() -> list[str]:
    """Where tests, and not the programs that they debug, sleep."""
    places = []
    for path in (ROOT / "tests").rglob("*.py"):
        name = path.relative_to(ROOT / "tests").as_posix()
        if name.startswith("programs/") or name in _MAY_SLEEP:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.Attribute, ast.ImportFrom)) and re.fullmatch(
                r"time\.sleep|from time import .*\bsleep\b.*", ast.unparse(node)
            ):
                places.append(f"{name}:{node.lineno}")
    return places


def test_no_test_sleeps() -> None:
    assert sleeps() == []


# -- the documents and the code --------------------------------------------------------------------


def may_import() -> dict[str, set[str]]:
    """The column "may import" of the tree in ARCHITECTURE.md, by room."""
    lines = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines()
    first = next(number for number, line in enumerate(lines) if line.endswith("may import"))
    column = lines[first].index("may import")
    rooms: dict[str, set[str]] = {}
    room = ""
    for line in lines[first + 1 :]:
        if not line.startswith("  "):
            break
        if line[2] != " ":
            room = re.split(r"[/.]", line.strip())[0]
            rooms[room] = set()
        rooms[room] |= set(line[column:].split()) - {"–"}
    return rooms


def imported() -> dict[str, set[str]]:
    """Which rooms the modules of each room import."""
    graph = grimp.build_graph("holdfast", cache_dir=None)
    rooms: dict[str, set[str]] = {}
    for module in graph.modules:
        names = {module, *graph.find_modules_directly_imported_by(module)}
        room, *others = [module.split(".")[1:2], *(name.split(".")[1:2] for name in names)]
        rooms.setdefault("".join(room), set()).update("".join(other) for other in others)
    return {room: others - {room, ""} for room, others in rooms.items()}


def test_every_room_imports_only_what_the_architecture_says() -> None:
    allowed = may_import()
    actual = {room: others for room, others in imported().items() if room in allowed}
    assert allowed.keys() == {
        path.stem for path in SOURCE.iterdir() if not path.name.startswith(("_", "py.typed"))
    }
    assert {
        room: others - allowed[room] for room, others in actual.items() if others - allowed[room]
    } == {}


DOCUMENTS = [
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    *(path for path in sorted(ROOT.glob("docs/**/*.md")) if path.name != "api.md"),
]
# The others quote the code of their readers.
ABOUT_THE_CODE = [ROOT / "ARCHITECTURE.md", *sorted(ROOT.glob("docs/decisions/*.md"))]
_NAME = re.compile(r"`([\w./-]+)`")
_FOREIGN = {"setVariable", "stackTrace"}  # names of the Debug Adapter Protocol that we do not use


def resolve(name: str) -> bool:
    """Whether a path, or a dotted name below a room, exists. The last parts may be symbols."""
    if (ROOT / name).exists() or (SOURCE / name).exists():
        return True
    here = SOURCE
    parts = name.removeprefix("holdfast.").replace("/", ".").split(".")
    for number, part in enumerate(parts):
        file = here / f"{part}.py"
        if file.is_file():
            return has_words(file, parts[number + 1 :])
        if not (here / part).is_dir():
            return has_words(here / "__init__.py", parts[number:])
        here /= part
    return True


def has_words(file: Path, words: list[str]) -> bool:
    text = file.read_text(encoding="utf-8")
    return all(re.search(rf"\b{word}\b", text) for word in words)


def is_ours(name: str) -> bool:
    """Whether a name in a document claims to be a file, a module or a symbol of this repository."""
    tops = {path.stem for path in SOURCE.iterdir()} | {
        path.name for path in ROOT.iterdir() if path.is_dir() and not path.name.startswith(".")
    }
    first = re.split(r"[./]", name.removeprefix("holdfast."))[0]
    return name.endswith(".py") or (first in tops and re.search(r"[./]\w", name) is not None)


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.stem)
def test_documents_name_files_and_symbols_that_exist(document: Path) -> None:
    names = set(_NAME.findall(document.read_text(encoding="utf-8")))
    assert [name for name in sorted(names) if is_ours(name) and not resolve(name)] == []


@pytest.mark.parametrize("document", ABOUT_THE_CODE, ids=lambda path: path.stem)
def test_documents_use_words_that_the_code_has(document: Path) -> None:
    """`APPLIED` or `step_wait`: a single word in code type that looks like one of our names."""
    words = set(re.findall(r"`(\w+)`", document.read_text(encoding="utf-8"))) - _FOREIGN
    assert sorted(words - words_of_code()) == []


@functools.cache
def words_of_code() -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    return {word for text in texts for word in re.findall(r"\w+", text)}


# -- faces and kinds -----------------------------------------------------------------------------

FACES = [path for face in ("server", "cli") for path in sorted((SOURCE / face).rglob("*.py"))]
# Classes of one kind of session, and what only the model and the services may compare.
KIND_CLASSES = {
    "Kind",
    "ProgramSession",
    "CallSession",
    "AgentSession",
    "ProgramHold",
    "CallHold",
    "AgentHold",
}
KINDS = {"program", "calls", "agent"}


def kind_tests(tree: ast.AST) -> list[int]:
    """The lines that ask which kind a session, a hold or an answer is of."""
    lines = []
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) if name in KIND_CLASSES:
                lines.append(node.lineno)
            case ast.Compare(left=left, comparators=others):
                sides = [left, *others]
                if any(is_kind(side) for side in sides) and names_kind(*sides):
                    lines.append(node.lineno)
            case ast.Match(subject=subject, cases=cases) if is_kind(subject):
                if names_kind(*(case.pattern for case in cases)):
                    lines.append(node.lineno)
    return lines


def names_kind(*nodes: ast.AST) -> bool:
    parts = (part for node in nodes for part in ast.walk(node))
    return any(isinstance(part, ast.Constant) and part.value in KINDS for part in parts)


def is_kind(node: ast.expr) -> bool:
    """`session.kind`, `kind`, `answer["kind"]` or `answer.get("kind")`."""
    match node:
        case ast.Attribute(attr="kind") | ast.Name(id="kind"):
            return True
        case ast.Attribute(attr="value", value=inner):
            return is_kind(inner)
        case ast.Subscript(slice=ast.Constant(value="kind")):
            return True
        case ast.Call(args=[ast.Constant(value="kind"), *_]):
            return True
    return False


@pytest.mark.parametrize(
    "code",
    [
        "session.kind.value == 'agent'",
        "answer['kind'] in ('calls', 'agent')",
        "answer.get('kind') != 'program'",
        "isinstance(session, AgentSession)",
        "hold.kind is Kind.CALLS",
    ],
)
def test_a_question_for_the_kind_is_recognised(code: str) -> None:
    assert kind_tests(ast.parse(code))


def test_no_face_asks_which_kind_a_session_or_hold_is_of() -> None:
    found = [
        f"{path.relative_to(SOURCE)}:{line}"
        for path in FACES
        for line in kind_tests(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []
