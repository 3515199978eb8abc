"""What a user means by a name or an expression: the place that it stands for in a frame, or below a
value that the user sees."""

from __future__ import annotations

import ast
import sys
import types
from typing import Any, Dict

from . import attribute_watch, dict_watch, frame_cells, introspection, variable_children
from .data_places import (
    PLACES,
    AttributePlace,
    CellPlace,
    DictPlace,
    ExpressionPlace,
    GlobalPlace,
    ItemPlace,
    LocalPlace,
    Place,
)
from .fingerprints import MISSING
from .handles import Handle

_ACCESS_TYPES = ["write", "change"]
_PLAIN_DESCRIPTORS = (types.MemberDescriptorType, types.GetSetDescriptorType)


class NoPlace(Exception):
    """Nothing that could be watched; the message says why."""


def describe(place: Place) -> Dict[str, Any]:
    return {
        "data_id": PLACES.add(place),
        "description": place.text,
        "access_types": _ACCESS_TYPES,
        "can_persist": place.can_persist,
        "message": None,
    }


def refuse(text: str, reason: str) -> Dict[str, Any]:
    return {
        "data_id": None,
        "description": text,
        "access_types": [],
        "can_persist": False,
        "message": reason,
    }


def find_in_frame(frame: Any, text: str, is_until: bool = False) -> Dict[str, Any]:
    """The answer to a question about an expression. May run the program's code."""
    text = text.strip()
    try:
        tree = ast.parse(text, mode="eval").body
        place = ExpressionPlace(text, frame) if is_until else _find(frame, text, tree)
    except (SyntaxError, ValueError) as error:  # ValueError: a null byte
        return refuse(text, "this is no expression: %s" % error)
    except NoPlace as error:
        return refuse(text, str(error))
    return describe(place)


def find_below(handle: Handle, frame: Any, name: str) -> Dict[str, Any]:
    """The answer to a question about a child of a value, by the name that it is shown with."""
    try:
        if handle.kind == "scope":
            return describe(_find_in_scope(handle, name))
        return describe(_find_child(handle, frame, name))
    except (NoPlace, KeyError, IndexError, AttributeError) as error:
        reason = error.args[0] if error.args else "there is no %s" % name
        return refuse(name, str(reason))


# -- names ----------------------------------------------------------------------------------------


def _find(frame: Any, text: str, tree: ast.expr) -> Place:
    if isinstance(tree, ast.Name):
        return _find_name(frame, tree.id)
    if isinstance(tree, ast.Attribute):
        return _find_attribute(frame, text, _evaluate(frame, tree.value), tree.attr)
    if isinstance(tree, ast.Subscript) and not isinstance(tree.slice, ast.Slice):
        key = tree.slice
        if type(key).__name__ == "Index":  # 3.8's form, which 3.9 may still give
            key = getattr(key, "value")
        holder, item = _evaluate(frame, tree.value), _evaluate(frame, key)
        return _find_item(frame, text, holder, item)
    return ExpressionPlace(text, frame)


def _evaluate(frame: Any, tree: ast.expr) -> Any:
    code = compile(ast.Expression(tree), "<holdfast>", "eval")
    try:
        return eval(code, {**frame.f_globals, **frame.f_locals})
    except Exception as error:
        raise NoPlace("%s: %s" % (type(error).__name__, error)) from None


def _find_name(frame: Any, name: str) -> Place:
    code = frame.f_code
    if frame.f_locals is frame.f_globals or (code.co_name == "<module>" and name in frame.f_locals):
        return _find_global(frame, name)
    if name in code.co_cellvars or name in code.co_freevars:
        return _find_cell(frame, name)
    if name in code.co_varnames:
        return LocalPlace(name, frame)
    if name in frame.f_locals:  # the body of a class
        return ExpressionPlace(name, frame)
    return _find_global(frame, name)


def _find_global(frame: Any, name: str) -> Place:
    names = frame.f_globals
    if name not in names and name not in frame.f_code.co_names:
        raise NoPlace("there is no variable called %s here" % name)
    return _place_global(frame, names, name)


def _place_global(frame: Any, names: Any, name: str) -> Place:
    module = str(names.get("__name__", ""))
    if getattr(sys.modules.get(module), "__dict__", None) is names:
        return GlobalPlace(frame, module, name)
    return DictPlace(name, frame, names, name)  # of a module that nobody can import by its name


def _find_cell(frame: Any, name: str) -> Place:
    """The variable that functions share, if it can be told which one it is."""
    cell = frame_cells.find_cell(frame, name)
    return LocalPlace(name, frame) if cell is None else CellPlace(name, frame, cell)


# -- attributes and items -------------------------------------------------------------------------


def _find_attribute(frame: Any, text: str, obj: Any, name: str) -> Place:
    if type(obj) is types.ModuleType:
        return _place_global(frame, vars(obj), name)
    if issubclass(type(obj), type):
        return _find_class_attribute(frame, text, obj, name)
    home, found = introspection.find_in_mro(type(obj), name)
    has_own = introspection.read_attribute(obj, name)[0]
    if home is not None and _is_computed(found) and not has_own:
        return ExpressionPlace(text, frame)
    refusal = attribute_watch.find_refusal(obj, name)
    if refusal is not None:
        raise NoPlace(refusal)
    if not has_own and home is None and introspection.instance_dict(obj) is None:
        raise NoPlace("%s has no attribute %s" % (introspection.type_name(type(obj)), name))
    if not has_own and home is None and introspection.find_in_mro(type(obj), "__getattr__")[0]:
        return ExpressionPlace(text, frame)
    return AttributePlace(text, frame, obj, name)


def _is_computed(member: Any) -> bool:
    """Whether reading the attribute runs code, as a property's does."""
    kind = type(member)
    if issubclass(
        kind, _PLAIN_DESCRIPTORS + (types.FunctionType, attribute_watch.WatchedAttribute)
    ):
        return False
    return introspection.find_in_mro(kind, "__get__")[0] is not None


def _find_class_attribute(frame: Any, text: str, cls: Any, name: str) -> Place:
    names = dict_watch.find_class_dict(cls)
    if names is None or not dict_watch.is_possible() or not cls.__flags__ & introspection.HEAP_TYPE:
        return ExpressionPlace(text, frame)
    return DictPlace(text, frame, names, name)


def _find_item(frame: Any, text: str, holder: Any, key: Any) -> Place:
    kind = type(holder)
    if issubclass(kind, dict):
        try:
            hash(key)
        except TypeError as error:
            raise NoPlace(str(error)) from None
        return DictPlace(text, frame, holder, key)
    if issubclass(kind, list) and type(key) is int:
        return ItemPlace(text, frame, holder, lambda items: list.__getitem__(items, key))
    return ExpressionPlace(text, frame)


# -- children of a value that was shown -----------------------------------------------------------


def _find_in_scope(handle: Handle, name: str) -> Place:
    frame = handle.value.frame
    if handle.name == "Globals":
        return _find_global(frame, name)
    return _find_name(frame, name)


def _find_child(handle: Handle, frame: Any, name: str) -> Place:
    value = handle.value
    children = variable_children.children_of(value)
    if children is None:
        raise NoPlace("%s is empty" % handle.name)
    children.find(name)  # raises what is wrong with the name
    if introspection.read_attribute(value, name)[0]:
        return _find_attribute(frame, "%s.%s" % (handle.name, name), value, name)
    text = "%s[%s]" % (handle.name, name)
    if issubclass(type(value), dict):
        return DictPlace(text, frame, value, variable_children.Entries(value).find_key(name))
    if issubclass(type(value), (tuple, frozenset, range)):
        raise NoPlace("the items of a %s cannot be written" % introspection.type_name(type(value)))
    return ItemPlace(text, frame, value, lambda held: _find_named(held, name))


def _find_named(held: Any, name: str) -> Any:
    children = variable_children.children_of(held)
    return MISSING if children is None else children.find(name)
