"""Pages of the shop; some are slow, broken, or try to mislead agents."""

from __future__ import annotations

import hmac
import time

from flask import Flask, Response, abort, redirect, render_template, request, session, url_for
from werkzeug.wrappers import Response as AnyResponse

from examples.shop.state import REASONS, Order, Shop
from examples.shop.stock import CATEGORIES, PRODUCTS, Product, products_that_fit

SLOW_S = 2.0


def add_pages(app: Flask, shop: Shop) -> None:
    """Add all pages of the shop to an application."""
    app.context_processor(lambda: {"n_in_cart": sum(shop.cart.values())})
    _add_products(app)
    _add_cart(app, shop)
    _add_orders(app, shop)
    _add_account(app, shop)
    _add_troubles(app)


def _add_products(app: Flask) -> None:
    @app.get("/")
    def products() -> str:
        chosen = request.args.get("category", "")
        most = request.args.get("most", "")
        found = products_that_fit(
            request.args.get("q", "").strip(), chosen, int(most) * 100 if most.isdecimal() else None
        )
        return render_template("products.html", products=found, categories=CATEGORIES)

    @app.get("/products/<int:number>")
    def product(number: int) -> str:
        return render_template("product.html", product=_product(number))


def _add_cart(app: Flask, shop: Shop) -> None:
    @app.get("/cart")
    def cart() -> str:
        return render_template("cart.html", lines=shop.lines(), total=shop.total())

    @app.post("/cart/<int:number>")
    def put_into_cart(number: int) -> AnyResponse:
        shop.cart[_product(number).id] += 1
        return redirect(url_for("cart"))

    @app.post("/cart/<int:number>/remove")
    def remove(number: int) -> AnyResponse:
        shop.cart.pop(_product(number).id, None)
        return redirect(url_for("cart"))

    @app.post("/order")
    def place_order() -> AnyResponse:
        if not shop.lines():
            abort(400)
        return redirect(url_for("order", number=shop.place_order().number))


def _add_orders(app: Flask, shop: Shop) -> None:
    def known(number: int) -> Order:
        return shop.orders.get(number) or abort(404)

    @app.get("/orders")
    def orders() -> str:
        return render_template("orders.html", orders=shop.orders.values())

    @app.get("/orders/<int:number>")
    def order(number: int) -> str:
        return render_template("order.html", order=known(number), reasons=REASONS)

    @app.post("/orders/<int:number>/cancel")
    def cancel(number: int) -> AnyResponse:
        cancelled = known(number)
        if not cancelled.can_be_cancelled or request.form.get("reason") not in REASONS:
            abort(400)
        cancelled.status, cancelled.reason = "Cancelled", request.form["reason"]
        return redirect(url_for("order", number=number))

    @app.get("/orders/<int:number>/invoice.csv")
    def invoice(number: int) -> Response:
        text = f"order,content\n{number},{known(number).content}\n"
        attachment = {"Content-Disposition": f"attachment; filename=invoice-{number}.csv"}
        return Response(text, mimetype="text/csv", headers=attachment)


def _add_account(app: Flask, shop: Shop) -> None:
    @app.route("/login", methods=["GET", "POST"])
    def login() -> str | AnyResponse:
        if request.method == "GET":
            return render_template("login.html", failed=False)
        name, password = request.form.get("name", ""), request.form.get("password", "")
        if name != shop.user or not hmac.compare_digest(password.encode(), shop.password.encode()):
            return render_template("login.html", failed=True)
        session["user"] = name
        return redirect(url_for("account"))

    @app.get("/account")
    def account() -> str | AnyResponse:
        if "user" not in session:
            return redirect(url_for("login"))
        return render_template("account.html", user=session["user"], points=240)


def _add_troubles(app: Flask) -> None:
    @app.get("/report")
    def slow() -> str:
        time.sleep(SLOW_S)
        return render_template("report.html", n_in_stock=sum(each.stock for each in PRODUCTS))

    @app.get("/vouchers")
    def broken() -> tuple[str, int]:
        return render_template("broken.html"), 500


def _product(number: int) -> Product:
    return next((product for product in PRODUCTS if product.id == number), None) or abort(404)
