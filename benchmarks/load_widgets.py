"""Values of widgets as a browser holds them: it sends all of the page's with every act."""

from __future__ import annotations

from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState

Value = dict[str, Any]


def value(element: Any, before: Value | None) -> Value | None:
    """What a browser holds for an element that came from the server: what the server sets, else
    what it held before, else the default. None for what is no widget with a value."""
    kind = element.WhichOneof("type")
    body = getattr(element, kind)
    given = getattr(body, "set_value", False)
    if before is not None and not given:
        return before
    match kind:
        case "selectbox":
            if given:
                return {"string_value": body.raw_value}
            return {"string_value": body.options[body.default]} if body.options else None
        case "button_group":
            chosen = body.raw_values if given else [body.options[i].content for i in body.default]
            return {"string_array_value": {"data": list(chosen)}}
        case "slider" if body.options:  # of words: st.select_slider
            places = [body.options[int(i)] for i in body.default]
            return {"string_array_value": {"data": list(body.raw_value) if given else places}}
        case "slider":
            return {"double_array_value": {"data": list(body.value if given else body.default)}}
        case "number_input":
            return {"double_value": body.value if given else body.default}
        case "checkbox":
            return {"bool_value": body.value if given else body.default}
        case "text_input" | "text_area":
            return {"string_value": body.value if given else body.default}
    return None


def state(id: str, value: Value) -> WidgetState:
    """The message that carries a value."""
    return WidgetState(id=id, **value)
