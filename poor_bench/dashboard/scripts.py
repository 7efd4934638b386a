"""Bind functions of `assets/*.js` as handlers that run in the browser."""

from __future__ import annotations

from typing import Any


def bind_script(app: Any, namespace: str, function: str, *arguments: Any, **options: Any) -> None:
    """Bind `window.dash_clientside.<namespace>.<function>`.

    Args:
        app: The Dash application; Dash gives its method no types.
        namespace: Name that the script gives its functions together.
        function: Name of the function.
        arguments: Outputs, inputs and states, as in a callback.
        options: Such as `prevent_initial_call`.
    """
    from dash import ClientsideFunction

    app.clientside_callback(ClientsideFunction(namespace, function), *arguments, **options)
