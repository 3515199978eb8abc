"""Texts of recorded values, made comparable between two runs."""

from __future__ import annotations

import functools
import re

_ADDRESS = re.compile(r"0x[0-9a-fA-F]{4,}")
_THREAD = re.compile(r"\b(_?(?:ident|native_id|thread_id))=\d+")
_THREAD_STATE = re.compile(r"\b(Thread|Timer|Event|Condition|Lock)\((?:[^()]|\([^()]*\))*\)")
"""What these hold depends on how far other threads are."""
_SET = re.compile(r"\{([^{}:]*)\}")


@functools.lru_cache(maxsize=50_000)
def mask_text(text: str) -> str:
    """The same for values that differ only by an address, a thread's state, or a set's order."""
    if "0x" in text:
        text = _ADDRESS.sub("0x…", text)
    if "(_" in text:
        text = _THREAD_STATE.sub(r"\1(…)", text)
    if "id" in text:
        text = _THREAD.sub(r"\1=…", text)
    if "{" in text:
        text = _SET.sub(_sort_items, text)
    return text


def _sort_items(match: re.Match[str]) -> str:
    items = match.group(1).split(", ")
    if " more" in items[-1]:  # which of the items are shown depends on their order
        return "{…}"
    return "{" + ", ".join(sorted(items)) + "}"
