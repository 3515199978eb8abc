"""Parses values: their content ids, bytes and previews.

Bytes are checked against their content id as they come in, and never loaded.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import pickle
import re
from typing import Any

import orjson

from holdfast.errors import BodyTooLarge, CidMismatch, InvalidDecision, InvalidInput
from holdfast.model.call import PARAMETER_KINDS, Item, Parameter, Parameters, Preview
from holdfast.model.value_text import NotAValue, parse_literal, parse_text
from holdfast.wire import pickle_viewer

MAX_ITEMS = 10_000
MAX_NAME = 1000
MAX_PARAMETERS = 500
MAX_PREVIEW = 16 * 1024
_CID = re.compile(r"[0-9a-f]{64}")
_PICKLE_PROTOCOL = 4


def invalid(where: str, expected: str) -> InvalidInput:
    return InvalidInput(f"{where}: {expected} is expected", field=where)


def shorten(text: str, limit: int = MAX_PREVIEW) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


# -- content ids ---------------------------------------------------------------------------------


def is_cid(given: Any) -> bool:
    return isinstance(given, str) and _CID.fullmatch(given) is not None


def parse_cid(given: Any, where: str = "cid") -> str:
    if isinstance(given, str) and _CID.fullmatch(given):
        return given
    raise invalid(where, "a content id (64 lower-case hex digits)")


# -- items ---------------------------------------------------------------------------------------


def parse_item(given: Any, where: str, limit: int) -> Item:
    """A value by its content id, with its bytes if they came too. `limit`: the most bytes."""
    if not isinstance(given, dict):
        raise invalid(where, 'an object {"cid", "data"?, "preview"?}')
    data = given.get("data")
    cid = parse_cid(given.get("cid"), f"{where}.cid")
    if data is None:
        return Item(cid)
    return check_item(cid, data, given.get("preview"), where, limit)


def check_item(cid: str, data: Any, preview: Any, where: str, limit: int) -> Item:
    """The value, if its bytes hash to its content id."""
    if not isinstance(data, str):
        raise invalid(f"{where}.data", "base64 text")
    if len(data) * 3 // 4 > limit + 2:
        raise BodyTooLarge(
            f"{where}: the value is larger than {limit} bytes", field=where, max_bytes=limit
        )
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as problem:
        raise InvalidInput(f"{where}.data: not base64: {problem}", field=f"{where}.data") from None
    if hashlib.sha256(raw).hexdigest() != cid:
        raise CidMismatch(f"{where}: the data does not hash to the cid", cid=cid)
    return Item(cid, raw, parse_preview(preview, raw))


def parse_data(data: Any, where: str, limit: int) -> Item:
    """A value given by its bytes alone."""
    try:
        cid = hashlib.sha256(base64.b64decode(data, validate=True)).hexdigest()
    except (TypeError, ValueError):
        raise invalid(f"{where}_data", "base64 text") from None
    return check_item(cid, data, None, where, limit)


def parse_items(given: Any, where: str, limit: int) -> tuple[Item, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MAX_ITEMS:
        raise invalid(where, f"a list of at most {MAX_ITEMS} items")
    return tuple(parse_item(item, f"{where}.{at}", limit) for at, item in enumerate(given))


def parse_named_items(given: Any, where: str, limit: int) -> dict[str, Item]:
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > MAX_ITEMS:
        raise invalid(where, f"an object of at most {MAX_ITEMS} items")
    return {name: parse_item(item, f"{where}.{name}", limit) for name, item in given.items()}


def parse_preview(given: Any, data: bytes) -> Preview:
    """The preview that came with a value, within bounds; otherwise one made of its bytes."""
    if not isinstance(given, dict) or not isinstance(given.get("text"), str):
        return pickle_viewer.build_preview(data)
    preview: Preview = {
        "text": shorten(given["text"]),
        "type": shorten(str(given.get("type", "?")))[:MAX_NAME],
    }
    length = given.get("length")
    if isinstance(length, int) and not isinstance(length, bool):
        preview["length"] = length
    if "json" in given and len(orjson.dumps(given["json"])) <= MAX_PREVIEW:
        preview["json"] = given["json"]
    marker = given.get("marker")
    if isinstance(marker, str):
        preview["marker"] = shorten(marker)[:MAX_NAME]
    return preview


def parse_parameters(given: Any) -> Parameters | None:
    """The parameters of a function. None if they are left out, or are not as expected."""
    if given is None:
        return None
    if not isinstance(given, list) or len(given) > MAX_PARAMETERS:
        raise invalid("parameters", f"a list of at most {MAX_PARAMETERS} parameters")
    return tuple(_parse_parameter(one, f"parameters.{at}") for at, one in enumerate(given))


def _parse_parameter(given: Any, where: str) -> Parameter:
    if not isinstance(given, dict) or not isinstance(given.get("name"), str):
        raise invalid(f"{where}.name", "a name")
    if given.get("kind") not in PARAMETER_KINDS:
        raise invalid(f"{where}.kind", f"one of {', '.join(PARAMETER_KINDS)}")
    default = None
    if isinstance(given.get("default"), dict):
        default = parse_preview(given["default"], b"")
        literal = given["default"].get("literal")
        if isinstance(literal, str) and len(literal) <= MAX_NAME:
            default["literal"] = literal
    return Parameter(shorten(given["name"], MAX_NAME), given["kind"], default)


# -- values that somebody decided on -------------------------------------------------------------


def parse_value(given: Any, where: str, limit: int) -> Item:
    """`{"value"}`, `{"literal"}`, `{"text"}`, `{"cid"}` or `{"cid", "data"}` as a value.

    Nothing is run.
    """
    if not isinstance(given, dict):
        raise InvalidDecision(f"{where}: a value is expected", field=where)
    if "value" in given:
        return pickle_plain(given["value"])
    if "literal" in given:
        return pickle_plain(_parse_literal(given["literal"], where))
    if "text" in given:
        return pickle_plain(_parse_text(given["text"], where))
    if "cid" in given:
        return parse_item(given, where, limit)
    raise InvalidDecision(f"{where}: no value, literal, text or cid in it", field=where)


def pickle_plain(value: Any) -> Item:
    """A plain value as the application will load it."""
    data = pickle.dumps(value, protocol=_PICKLE_PROTOCOL)
    return Item(hashlib.sha256(data).hexdigest(), data, pickle_viewer.build_preview(data))


def _parse_text(text: Any, where: str) -> Any:
    """A value as somebody typed it."""
    if not isinstance(text, str):
        raise InvalidDecision(f"{where}.text: a value as text is expected", field=where)
    try:
        return parse_text(text)
    except NotAValue as problem:
        raise InvalidDecision(f"{where}: {problem}", hint=problem.hint, field=where) from None


def _parse_literal(text: Any, where: str) -> Any:
    if not isinstance(text, str):
        raise InvalidDecision(f"{where}.literal: a Python literal is expected", field=where)
    try:
        return parse_literal(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        raise InvalidDecision(
            f"{where}: not a Python literal: {text[:100]!r}",
            hint="A literal is a number, a text in quotes, None, True, False, or a container of "
            "these: 5, 'tea', [1, 2], {'a': 1}.",
            field=where,
        ) from None
