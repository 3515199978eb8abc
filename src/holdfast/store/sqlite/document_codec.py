"""Documents to JSON text and back."""

from __future__ import annotations

import json
from typing import Any

import orjson

from holdfast.store.store_errors import StoreProblem


def encode(document: Any) -> str:
    try:
        return orjson.dumps(document).decode()
    except orjson.JSONEncodeError:
        return _encode_the_unusual(document)


def _encode_the_unusual(document: Any) -> str:
    # What a program prints may hold lone surrogates, and its numbers may exceed 64 bits: orjson
    # writes neither, and neither is a reason to lose a document.
    try:
        return json.dumps(document)
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreProblem(
            f"This cannot be stored as JSON: {error}.",
            hint="Keep to objects, lists, text, numbers, booleans and null.",
        ) from error


def encode_object(document: dict[str, Any]) -> str:
    if not isinstance(document, dict):
        raise StoreProblem(
            f"A document is a JSON object, not {type(document).__name__}.",
            hint="Wrap the value in an object.",
        )
    return encode(document)


def decode(text: bytes) -> Any:
    """The document in `text`; ValueError when it is damaged."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return json.loads(text)


def decode_object(text: bytes) -> dict[str, Any]:
    document = decode(text)
    if not isinstance(document, dict):
        raise ValueError("the document is not a JSON object")
    return document
