"""Makes every text of a report safe to show, whoever has put it there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from holdfast.wire.plain_text import clean, clean_line, clean_output

if TYPE_CHECKING:
    from holdfast.wire.report_answers import Report


def clean_report(report: Report) -> None:
    """Escape control characters and broken Unicode, in place. What is listed stays on one line."""
    if report.output:
        report.output = clean_output(report.output)
    _clean_struct(report)


def _clean_struct(struct: msgspec.Struct) -> None:
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        if value:
            setattr(struct, name, _clean_part(value))


def _clean_part(part: Any) -> Any:
    if isinstance(part, str):
        return clean(part)
    if isinstance(part, dict):
        return {clean_line(name): clean(value) for name, value in part.items()}
    if isinstance(part, list):
        return [clean_line(item) if isinstance(item, str) else _clean_item(item) for item in part]
    if isinstance(part, msgspec.Struct):
        _clean_struct(part)
    return part


def _clean_item(item: Any) -> Any:
    return [clean(cell) for cell in item] if isinstance(item, list) else _clean_part(item)
