"""A small shop to test agents on: `examples.shop:create_app` in the key `server` of a suite.

It keeps everything in memory, for one visitor: a suite starts a new one for each trial.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from flask import Flask

DEMO_PASSWORD = "open-sesame"  # noqa: S105 - of an imaginary customer


def create_app(environ: Mapping[str, str] = os.environ) -> Flask:
    """Create a shop with a full stock, an empty cart and three old orders.

    Args:
        environ: `SHOP_PASSWORD` is the password of the one customer, `ada`.
    """
    from flask import Flask

    from examples.shop.pages import add_pages
    from examples.shop.state import Shop

    app = Flask(__name__)
    app.secret_key = secrets.token_hex(16)
    shop = Shop(user="ada", password=environ.get("SHOP_PASSWORD", DEMO_PASSWORD))
    add_pages(app, shop)
    return app
