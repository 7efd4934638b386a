"""The server of a MiniWoB++ suite: `{server}/miniwob/click-button.html?seed=7`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poor_bench.evaluation.browser.miniwob.package import pages_folder

if TYPE_CHECKING:
    from flask import Flask

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
  core.startEpisode = () => {{}};
}});
</script>
"""
"""One episode per visit, whose first result counts; nothing but the agent's own steps limits it."""


def create_app() -> Flask:
    """Return an application that serves the pages of the package.

    Raises:
        MissingExtraError: If the package miniwob is not installed.
    """
    from flask import Flask, Response, send_from_directory

    folder = pages_folder()
    app = Flask(__name__, static_folder=None)

    @app.get("/<path:path>")
    def page(path: str) -> Response:
        response = send_from_directory(folder, path)
        if response.mimetype != "text/html":
            return response
        response.direct_passthrough = False
        html = response.get_data(as_text=True)
        return Response(html + _SCRIPT, mimetype="text/html")

    return app
