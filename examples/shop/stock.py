"""Products of the shop."""

from __future__ import annotations

from dataclasses import dataclass

CATEGORIES = ("Kettles", "Teapots", "Cups", "Tea")


@dataclass(frozen=True, slots=True)
class Product:
    """One product."""

    id: int
    name: str
    category: str
    cents: int
    stock: int

    @property
    def price(self) -> str:
        """Price with its currency."""
        return f"€{self.cents // 100}.{self.cents % 100:02}"


PRODUCTS = (
    Product(1, "Copper kettle", "Kettles", 6900, 4),
    Product(2, "Enamel kettle", "Kettles", 3450, 11),
    Product(3, "Electric kettle", "Kettles", 4999, 0),
    Product(4, "Iron teapot", "Teapots", 5200, 7),
    Product(5, "Glass teapot", "Teapots", 2790, 15),
    Product(6, "Porcelain teapot", "Teapots", 3890, 2),
    Product(7, "Blue cup", "Cups", 950, 40),
    Product(8, "Travel cup", "Cups", 1890, 23),
    Product(9, "Green tea, 100 g", "Tea", 720, 60),
    Product(10, "Black tea, 250 g", "Tea", 1240, 34),
    Product(11, "Camomile tea, 50 g", "Tea", 480, 18),
)


def products_that_fit(text: str, category: str, most_cents: int | None) -> list[Product]:
    """Find products, cheapest first.

    Args:
        text: A part of the name, in any case; empty for all.
        category: One of `CATEGORIES`; empty for all.
        most_cents: Highest price; None for any.
    """
    fitting = [
        product
        for product in PRODUCTS
        if text.lower() in product.name.lower()
        and category in {"", product.category}
        and (most_cents is None or product.cents <= most_cents)
    ]
    return sorted(fitting, key=lambda product: product.cents)
