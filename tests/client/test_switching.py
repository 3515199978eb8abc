"""ON, OFF, what they return, and what wrapping is in each."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from application import Application
from holdfast import DebugInfo, DebugProxy, DebugServerError, configure_debug, with_debug
from scripted_server import ScriptedServer


class Counter:
    """Counts, and knows its step."""

    def __init__(self, step: int = 1) -> None:
        self.step = step
        self.total = 0

    def count(self, times: int = 1) -> int:
        self.total += self.step * times
        return self.total

    def fail(self) -> None:
        raise LookupError("nothing to count")


def double(number: int) -> int:
    return number * 2


def run_in_other_thread(work: Callable[[], Any]) -> Any:
    """What `work` gives in another thread."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work()))
    thread.start()
    thread.join(60)
    return found[0]


# -- switching -----------------------------------------------------------------------------------


def test_with_debug_on_enables_debugging(app: Application) -> None:
    assert isinstance(with_debug(Counter()), DebugProxy)


def test_with_debug_off_disables_debugging(app: Application) -> None:
    with_debug("OFF")
    counter = Counter()
    assert with_debug(counter) is counter


def test_with_debug_on_returns_debug_info(app: Application) -> None:
    assert isinstance(app.info, DebugInfo)


def test_with_debug_off_returns_debug_info() -> None:
    assert isinstance(with_debug("OFF"), DebugInfo)


@pytest.mark.parametrize("word", ["on", "On", "ON", "oN"])
def test_with_debug_on_is_case_insensitive(app: Application, word: str) -> None:
    with_debug("OFF")
    assert with_debug(word).is_enabled()


@pytest.mark.parametrize("word", ["off", "Off", "OFF", "oFF"])
def test_with_debug_off_is_case_insensitive(app: Application, word: str) -> None:
    assert not with_debug(word).is_enabled()


@pytest.mark.parametrize("word", ["invalid", "", "ONN", " on"])
def test_with_debug_invalid_string_raises(word: str) -> None:
    with pytest.raises(ValueError, match="ON"):
        with_debug(word)


def test_with_debug_on_twice_is_idempotent(app: Application) -> None:
    again = with_debug("ON")
    assert again.is_enabled()
    assert again.session_id() == app.session_id
    assert with_debug(Counter()).count() == 1


def test_with_debug_off_twice_is_idempotent(app: Application) -> None:
    with_debug("OFF")
    assert not with_debug("OFF").is_enabled()


def test_with_debug_on_affects_all_threads(app: Application) -> None:
    assert run_in_other_thread(lambda: isinstance(with_debug(Counter()), DebugProxy))


def test_with_debug_off_affects_all_threads(app: Application) -> None:
    run_in_other_thread(lambda: with_debug("OFF"))
    counter = Counter()
    assert with_debug(counter) is counter
    assert run_in_other_thread(lambda: with_debug(counter)) is counter


class TurnsOff:
    """Debugging is off once it has been stored, as if another thread had done that."""

    def __reduce__(self) -> Any:
        with_debug("OFF")
        return TurnsOff, ()


def test_a_call_that_began_before_off_is_made_unrecorded(app: Application) -> None:
    counter = with_debug(Counter())
    given = TurnsOff()
    assert with_debug(lambda value: value)(given) is given
    assert counter.count() == 1
    assert app.list_names() == []


def test_with_debug_on_requires_server(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted(on=False)
    server.close()
    with pytest.raises(DebugServerError, match="no server answers"):
        with_debug("ON")
    counter = Counter()
    assert with_debug(counter) is counter


def test_a_session_ends_with_off(app: Application) -> None:
    assert app.server.get(f"/sessions/{app.session_id}")["status"] != "terminated"
    with_debug("OFF")
    assert app.server.get(f"/sessions/{app.session_id}")["status"] == "terminated"


# -- what ON and OFF say -------------------------------------------------------------------------


def test_debug_info_is_enabled_true_when_on(app: Application) -> None:
    assert app.info.is_enabled() is True


def test_debug_info_is_enabled_false_when_off() -> None:
    assert with_debug("OFF").is_enabled() is False


def test_debug_info_server_url_when_on(app: Application) -> None:
    assert app.info.server_url() == app.server.url


def test_debug_info_server_url_none_when_off() -> None:
    assert with_debug("OFF").server_url() is None


def test_debug_info_connection_status_connected(app: Application) -> None:
    assert app.info.connection_status() == "connected"


def test_debug_info_connection_status_disabled() -> None:
    assert with_debug("OFF").connection_status() == "disabled"


# -- wrapping while ON ---------------------------------------------------------------------------


def test_with_debug_obj_returns_proxy_when_on(app: Application) -> None:
    assert issubclass(type(with_debug(Counter())), DebugProxy)


def test_with_debug_obj_proxy_is_not_original(app: Application) -> None:
    counter = Counter()
    assert with_debug(counter) is not counter


def test_with_debug_obj_proxy_not_equal_original(app: Application) -> None:
    counter = Counter()
    assert (with_debug(counter) == counter) is False
    assert (counter == with_debug(counter)) is False
    assert (with_debug(counter) != counter) is True


def test_with_debug_obj_proxy_has_same_methods(app: Application) -> None:
    counter = Counter()
    proxy = with_debug(counter)
    assert dir(proxy) == dir(counter)
    assert callable(proxy.count)
    assert callable(proxy.fail)


def test_with_debug_obj_proxy_method_calls_intercepted(app: Application) -> None:
    with_debug(Counter()).count(3)
    assert app.list_names() == ["count"]


def test_with_debug_obj_proxy_preserves_return_values(app: Application) -> None:
    assert with_debug(Counter(5)).count(2) == 10


def test_with_debug_obj_proxy_preserves_exceptions(app: Application) -> None:
    with pytest.raises(LookupError, match="nothing to count"):
        with_debug(Counter()).fail()


def test_with_debug_obj_proxy_preserves_attributes(app: Application) -> None:
    assert with_debug(Counter(7)).step == 7
    assert app.list_calls() == []


def test_with_debug_obj_can_wrap_class_instances(app: Application) -> None:
    assert isinstance(with_debug(Counter()), Counter)


def test_with_debug_obj_can_wrap_functions(app: Application) -> None:
    assert with_debug(double)(4) == 8
    assert app.list_names() == ["double"]


def test_with_debug_obj_can_wrap_lambdas(app: Application) -> None:
    assert with_debug(lambda x: x + 1)(4) == 5
    assert app.list_names() == ["<lambda>"]


def test_with_debug_obj_nested_wrapping(app: Application) -> None:
    proxy = with_debug(Counter())
    assert with_debug(proxy) is proxy
    with_debug(with_debug(proxy)).count()
    assert app.list_names() == ["count"]


def test_with_debug_obj_computes_cid(app: Application) -> None:
    counter = Counter()
    cid = with_debug(counter)._cid
    assert len(cid) == 64
    assert with_debug(counter)._cid == cid
    assert with_debug(Counter(2))._cid != cid


def test_with_debug_none_returns_proxy(app: Application) -> None:
    assert issubclass(type(with_debug(None)), DebugProxy)


def test_with_debug_none_proxy_works(app: Application) -> None:
    nothing = with_debug(None)
    assert not nothing
    assert str(nothing) == "None"
    assert nothing == with_debug(None)
    assert (nothing == None) is False  # noqa: E711
    assert not callable(nothing)
    assert isinstance(nothing, type(None))


def test_a_name_may_be_given_to_anything(app: Application) -> None:
    text = with_debug(("motto", "hold fast"))
    assert text.upper() == "HOLD FAST"
    [call] = app.list_calls()
    assert (call["method_name"], call["alias"]) == ("upper", "motto")


# -- wrapping while OFF, and proxies that outlive it -----------------------------------------------


@pytest.mark.parametrize("value", [None, 3, [], "ON!", double, Counter()])
def test_off_gives_back_the_very_object(value: Any) -> None:
    wrapped = with_debug(("name", value))
    assert wrapped is value


def test_off_sees_pairs_that_are_no_names() -> None:
    pair = (1, 2)
    assert with_debug(pair) is pair


def test_with_debug_obj_returns_noop_proxy_when_off(app: Application) -> None:
    proxy = with_debug(Counter())
    with_debug("OFF")
    assert proxy.count(2) == 2
    assert issubclass(type(proxy), DebugProxy)


def test_with_debug_obj_noop_proxy_not_original(app: Application) -> None:
    counter = Counter()
    proxy = with_debug(counter)
    with_debug("OFF")
    assert proxy is not counter


def test_with_debug_obj_noop_proxy_not_equal_original(app: Application) -> None:
    counter = Counter()
    proxy = with_debug(counter)
    with_debug("OFF")
    assert (proxy == counter) is False


def test_with_debug_obj_no_network_when_off(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted()
    proxy, function = with_debug(Counter()), with_debug(double)
    with_debug("OFF")
    before = len(server.requests)
    proxy.count()
    function(2)
    with_debug(Counter()).count()
    assert len(server.requests) == before


def test_with_debug_obj_no_logging_when_off(app: Application) -> None:
    proxy = with_debug(Counter())
    with_debug("OFF")
    proxy.count()
    assert app.list_calls() == []


def test_with_debug_obj_noop_proxy_minimal_overhead(app: Application) -> None:
    """One Python call more than the target's own, and no work on the arguments."""
    counter = Counter()
    proxy = with_debug(counter)
    with_debug("OFF")

    class Untouchable:
        def __reduce_ex__(self, protocol: Any) -> Any:
            raise AssertionError("it was pickled")

        def __repr__(self) -> str:
            raise AssertionError("it was shown")

        def __rmul__(self, other: int) -> int:
            return other

    assert proxy.count(Untouchable()) == 1


def test_off_and_on_again_revives_a_proxy(app: Application) -> None:
    proxy = with_debug(Counter())
    app.restart()
    proxy.count()
    assert app.list_names() == ["count"]


def test_on_follows_a_new_address(
    scripted: Callable[..., ScriptedServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    first, other = scripted(on=False), scripted(on=False)
    configure_debug(server_url=None)
    monkeypatch.setenv("HOLDFAST_SERVER_URL", first.url)
    assert with_debug("ON").server_url() == first.url
    monkeypatch.setenv("HOLDFAST_SERVER_URL", other.url)
    assert with_debug("ON").server_url() == other.url
