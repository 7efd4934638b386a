"""State of the shop: the cart and the orders."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from examples.shop.stock import PRODUCTS, Product

REASONS = ("Ordered by mistake", "Found it cheaper", "Takes too long")


@dataclass
class Order:
    """One order and its status."""

    number: int
    content: str
    status: str = "Open"
    reason: str = ""

    @property
    def can_be_cancelled(self) -> bool:
        """True until it is shipped."""
        return self.status == "Open"


def _old_orders() -> dict[int, Order]:
    orders = (
        Order(1001, "2 x Blue cup"),
        Order(1002, "1 x Iron teapot"),
        Order(1003, "3 x Green tea, 100 g", status="Shipped"),
    )
    return {order.number: order for order in orders}


@dataclass
class Shop:
    """The shop of one visitor."""

    user: str
    password: str
    cart: Counter[int] = field(default_factory=Counter)
    orders: dict[int, Order] = field(default_factory=_old_orders)

    def lines(self) -> list[tuple[Product, int]]:
        """Products in the cart, with their quantities."""
        return [(product, self.cart[product.id]) for product in PRODUCTS if self.cart[product.id]]

    def total(self) -> str:
        """Total price of the cart."""
        cents = sum(product.cents * count for product, count in self.lines())
        return f"€{cents // 100}.{cents % 100:02}"

    def place_order(self) -> Order:
        """Turn the cart into an order."""
        content = ", ".join(f"{count} x {product.name}" for product, count in self.lines())
        order = Order(max(self.orders) + 1, content)
        self.orders[order.number] = order
        self.cart.clear()
        return order
