"""The pages of the package miniwob, and a server for them.

`{server}/miniwob/click-button.html?seed=7` is a page of a suite.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from poor_bench.command_line import python_command
from poor_bench.errors import MissingExtraError

if TYPE_CHECKING:
    from flask import Flask


def find_pages() -> Path:
    """Find the folder of the package's pages; the package itself is not imported.

    Raises:
        MissingExtraError: If it is not installed.
    """
    spec = find_spec("miniwob")
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            "the benchmark MiniWoB++ needs the package miniwob",
            hint=python_command("-m pip install miniwob"),
        )
    return Path(spec.submodule_search_locations[0]) / "html"


def list_tasks() -> list[str]:
    """List the names of all tasks, such as `click-button`.

    Raises:
        MissingExtraError: If the package is not installed.
    """
    return sorted(path.stem for path in (find_pages() / "miniwob").glob("*.html"))


_LONGEST_EPISODE_MS = 3_600_000
RESULT = "poorBenchMiniwob"
_SCRIPT = f"""
<script>
window.addEventListener('load', () => {{
  const end = core.endEpisode;
  window.{RESULT} = {{done: false, reward: 0, success: false, reason: ''}};
  core.endEpisode = function () {{
    end.apply(core, arguments);
    if (!WOB_DONE_GLOBAL || window.{RESULT}.done) return;
    window.{RESULT} = {{
      done: true, reward: WOB_RAW_REWARD_GLOBAL, success: WOB_RAW_REWARD_GLOBAL > 0,
      reason: String(WOB_REWARD_REASON || ''),
    }};
  }};
  core.EPISODE_MAX_TIME = {_LONGEST_EPISODE_MS};
  Math.seedrandom(core.QueryString['seed'] || '1');
  core.startEpisodeReal();
  core.hideDisplay();
  core.startEpisode = () => {{}};
}});
</script>
"""
"""One episode per visit, whose first result counts; nothing but the agent's own steps limits it.
The display of rewards is not a part of a task, and is hidden."""


def create_app() -> Flask:
    """Make an application that serves the pages of the package.

    Raises:
        MissingExtraError: If the package miniwob is not installed.
    """
    from flask import Flask, Response, abort, send_from_directory
    from werkzeug.security import safe_join

    folder = find_pages()
    app = Flask(__name__, static_folder=None)

    @app.get("/miniwob/<name>.html")
    def task(name: str) -> str:
        path = Path(safe_join(str(folder), "miniwob", f"{name}.html") or abort(404))
        return path.read_text(encoding="utf-8") + _SCRIPT if path.is_file() else abort(404)

    @app.get("/<path:path>")
    def part(path: str) -> Response:
        return send_from_directory(folder, path)

    return app
