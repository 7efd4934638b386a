"""All scripts in one file and all styles in another, each compressed once.

A fresh page of plain Dash asks for each script by itself, some of which nothing here uses. The
address of a bundle holds the hash of its content, so that browsers keep it until it changes.
"""

from __future__ import annotations

import hashlib
import pkgutil
import re
import threading
from dataclasses import dataclass
from functools import cached_property
from http import HTTPStatus
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dash import Dash
from flask import Response, request

from poor_bench.dashboard.web.first_answers import write_preload

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

BUNDLE_PATH = "/_bundle/"
_SUITES = "/_dash-component-suites/"
_UNUSED = ("dash/dash_table/",)
"""A component that no page has. Components of Dash need its polyfill in every browser."""
_RENDERER = "dash/dash-renderer/"
_CHUNKS = {"dash_ag_grid/dash_ag_grid": "async-community.js"}
"""Script to the chunk of it that most pages load as soon as they are drawn."""
_EARLY = "00-color-scheme.js"
"""It chooses the colours of what the document itself shows."""
_START = "var renderer = new DashRenderer();"
_BROTLI_QUALITY = 6


@dataclass(frozen=True)
class Bundle:
    """A file made of many."""

    content: bytes
    suffix: str

    @cached_property
    def address(self) -> str:
        """Path with the hash of the content; Dash wants its renderer in the name."""
        digest = hashlib.sha256(self.content).hexdigest()[:16]
        return f"{BUNDLE_PATH}with-dash-renderer.{digest}.{self.suffix}"

    @cached_property
    def compressed(self) -> bytes:
        """The content, compressed with brotli; computed once."""
        brotli: Any = import_module("brotli")
        shrunk: bytes = brotli.compress(self.content, quality=_BROTLI_QUALITY)
        return shrunk

    def answer(self) -> Response:
        """Build the response; for browsers without brotli it is compressed further on."""
        kind = "text/javascript" if self.suffix == "js" else "text/css"
        if not request.accept_encodings["br"]:
            return Response(self.content, mimetype=kind)
        response = Response(self.compressed, mimetype=kind)
        response.headers.update({"Content-Encoding": "br", "Vary": "Accept-Encoding"})
        return response


class BundledDash(Dash):
    """An application whose pages load one script and one style sheet."""

    def __init__(self, assets: Path, **options: Any) -> None:
        super().__init__(assets_folder=str(assets), assets_ignore=r".*\.(js|css)$", **options)
        self._assets = assets
        self._bundling = threading.Lock()
        self._bundles: tuple[Bundle, ...] | None = None
        self.write_first_paint: Callable[[str, str], str] = lambda _path, _search: ""
        """Writes what the document shows of the page at an address: its path and query."""
        self.server.get(f"{BUNDLE_PATH}<name>")(self._answer_bundle)

    def bundles(self) -> tuple[Bundle, ...]:
        """Scripts, styles, and the script that runs first; read when they are first needed."""
        with self._bundling:
            if self._bundles is None:
                sources = re.findall(r'src="([^"]+)"', self._generate_scripts_html())
                scripts = Bundle(join_scripts(sources, self._assets, self._inline_scripts), "js")
                early = Bundle((self._assets / _EARLY).read_bytes(), "js")
                self._bundles = scripts, Bundle(join_styles(self._assets), "css"), early
            return self._bundles

    def prepare(self) -> None:
        """Read and compress scripts and styles before the first browser asks."""
        for bundle in self.bundles():
            _ = bundle.compressed

    def interpolate_index(self, *parts: str, **named: str) -> str:
        """Write the page with our two tags in place of many."""
        untyped: Any = super()
        scripts, styles, early = self.bundles()
        search = f"?{query}" if (query := _query()) else ""
        tags = {
            "css": f'<script src="{early.address}"></script>'
            f'<link rel="stylesheet" href="{styles.address}">{write_preload(request.path, search)}',
            "scripts": f'<script src="{scripts.address}" defer></script>',
            "renderer": '<script id="_dash-renderer" type="application/json"></script>',
        }
        paint, entry = self.write_first_paint(request.path, search), named["app_entry"]
        tags["app_entry"] = (
            entry.replace("<div", "<div data-covered", 1) + paint if paint else entry
        )
        return str(untyped.interpolate_index(*parts, **{**named, **tags}))

    def _answer_bundle(self, name: str) -> Response:
        address = f"{BUNDLE_PATH}{name}"
        found = (bundle.answer() for bundle in self.bundles() if bundle.address == address)
        return next(found, Response(status=HTTPStatus.NOT_FOUND))


def _query() -> str:
    return request.query_string.decode("utf-8", "replace")


def join_scripts(sources: list[str], assets: Path, inline: Sequence[str] = ()) -> bytes:
    """Join the scripts of libraries with ours, which the renderer finds when it starts.

    Args:
        sources: Addresses of scripts of libraries, in their order.
        assets: The folder of our scripts.
        inline: Scripts of callbacks.
    """
    used = [each for each in sources if not each.removeprefix(_SUITES).startswith(_UNUSED)]
    n_first = next((n for n, each in enumerate(used) if _RENDERER in each), 0)
    own = [path.read_bytes() for path in sorted(assets.glob("*.js")) if path.name != _EARLY]
    own += [script.encode() for script in inline]
    first, last = _read_libraries(used[:n_first]), _read_libraries(used[n_first:])
    return b";\n".join((b"", *first, *own, *last, _START.encode()))


def _read_libraries(sources: list[str]) -> Iterator[bytes]:
    """Yield scripts, each told where it came from: from there it loads its other chunks."""
    fingerprint: Any = import_module("dash.fingerprint")
    for source in sources:
        package, _, file = source.removeprefix(_SUITES).partition("/")
        path, _ = fingerprint.check_fingerprint(file)
        yield _SAY_SOURCE.replace("SOURCE", source).encode()
        yield pkgutil.get_data(package, path) or b""
        for script, chunk in _CHUNKS.items():
            if f"{package}/{path}".startswith(script):
                yield pkgutil.get_data(package, chunk) or b""
    yield b"delete document.currentScript"


_SAY_SOURCE = """Object.defineProperty(document, "currentScript", {
  configurable: true, value: { tagName: "SCRIPT", src: location.origin + "SOURCE" },
})"""


def join_styles(assets: Path) -> bytes:
    """Join our styles, with the icons that they refer to."""

    def embed(found: re.Match[str]) -> str:
        icon = (assets / found[1]).read_text(encoding="utf-8")
        return f'url("data:image/svg+xml,{quote(icon)}")'

    texts = (path.read_text(encoding="utf-8") for path in sorted(assets.glob("*.css")))
    return re.sub(r'url\("(icons/[^"]+)"\)', embed, "\n".join(texts)).encode()
