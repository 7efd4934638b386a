r"""A mathematical expression, plain or LaTeX, in one safe notation.

The result holds numbers, single letters, the names of Greek letters, `pi`, a few functions and
the operators `+ - * / ** ( )`, and nothing else: it can be handed to a computer algebra system that
evaluates Python. What cannot be said in this notation is no expression.

Which piece of a response is the expression: the whole of it, else the last fenced block, else the
last `\boxed{}`, else the last `$...$`, else what follows the last "answer is" or equals sign.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from poor_bench.extraction.fences import find_fenced_blocks, find_last_boxed
from poor_bench.extraction.found import Extracted, Found
from poor_bench.extraction.plain_math import write_plain_math

_MAX_LENGTH = 300
_MAX_NESTED_BRACES = 12
_FUNCTIONS = frozenset(
    {
        "sqrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "log",
        "abs",
    }
)
_RENAMED = {
    "ln": "log",
    "lambda": "lamda",
    "arcsin": "asin",
    "arccos": "acos",
    "arctan": "atan",
    "e": "E",
    "i": "I",
}
_GREEK = frozenset(
    {"alpha", "beta", "gamma", "delta", "epsilon", "theta", "lamda", "mu", "rho", "sigma", "tau"}
    | {"phi", "psi", "omega", "pi"}
)
_SIGNS = str.maketrans(
    {"\N{GREEK SMALL LETTER PI}": " pi ", "\N{SQUARE ROOT}": " sqrt ", "\N{DEGREE SIGN}": "?"}
)
_SUPERSCRIPT = re.compile("[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_ROOT = re.compile(r"\\sqrt\s?(?:\[(?P<degree>\d{1,3})\])?\s?(?:\{(?P<of>[^{}]*)\}|(?P<digit>\w))")
_POWER = re.compile(r"\^\s?\{(?P<exponent>[^{}]*)\}")
_TRIGONOMETRIC_POWER = re.compile(
    r"(?P<function>sin|cos|tan)\s?\^\s?\(?(?P<power>\d)\)?\s?\(?(?P<argument>[A-Za-z])\b\)?"
)
_EQUATION = re.compile(r"^.*(?:=|\\approx|≈)", re.DOTALL)
_MIXED = re.compile(r"(?<![\d.])(\d+) (\d+)/(\d+)(?![\d.])")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_BARE_FUNCTION = re.compile(rf"\b(?:{'|'.join(sorted(_FUNCTIONS))})\b(?!\()")
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_TOKEN = re.compile(
    r"\s{0,9}+(?:(?P<number>\d+(?:\.\d+)?|\.\d+)|(?P<name>[A-Za-z]+)|(?P<operator>\*\*|[-+*/^()]))"
)
_INLINE = re.compile(
    r"\$\$?([^$]{1,300})\$\$?|\\\(((?:(?!\\\().){1,300}?)\\\)|\\\[((?:(?!\\\[).){1,300}?)\\\]"
)
_ANNOUNCED = re.compile(
    r"\banswer\b(?:[^\n.:=]{0,60}?\bis\b|\s{0,3}[:=])(?P<rest>[^\n]{1,300})", re.I
)


def extract_expression(text: str) -> Extracted[str] | None:
    """Find the expression in `text`, in safe notation, or None.

    Args:
        text: An answer, without thinking.
    """
    for piece, found in _list_pieces(text):
        expression = make_safe_expression(piece)
        if expression is not None:
            return Extracted(expression, found, piece.strip())
    return None


def make_safe_expression(text: str) -> str | None:
    r"""Write an expression in safe notation; of an equation the right-hand side.

    Example:
        >>> make_safe_expression(r"y = \frac{2x}{\sqrt{3}}")
        '(2*x)/(sqrt(3))'
    """
    if len(text) > _MAX_LENGTH:
        return None
    text = text.strip().strip("$`*").rstrip(".,; ").removesuffix("$")
    text = _resolve_braces(_EQUATION.sub("", text))
    if not text.isascii():
        text = _SUPERSCRIPT.sub(lambda match: "^" + match[0].translate(_SUPERSCRIPTS), text)
        text = text.translate(_SIGNS)
    text = _MIXED.sub(r"(\1+\2/\3)", _THOUSANDS.sub("", write_plain_math(text)))
    text = _TRIGONOMETRIC_POWER.sub(r"\g<function>(\g<argument>)^\g<power>", text)
    if re.search(r"\d\s+\d", text) or not all(map(_is_known, _COMMAND.findall(text))):
        return None
    return _join_tokens(text.replace("{", "(").replace("}", ")").replace("\\", " "))


def _list_pieces(text: str) -> Iterator[tuple[str, Found]]:
    blocks = find_fenced_blocks(text)
    if "\n" not in text.strip():
        yield text, Found.BARE
    for block in reversed(blocks):
        yield block.body, Found.FENCED
    boxed = find_last_boxed(text)
    if boxed is not None:
        yield boxed, Found.BOXED
    for match in reversed(list(_ANNOUNCED.finditer(text))[-3:]):
        yield match["rest"], Found.ANNOUNCED
        yield _cut_first_sentence(match["rest"]), Found.ANNOUNCED
    for match in reversed(list(_INLINE.finditer(text))[-3:]):
        yield match[1] or match[2] or match[3], Found.IN_PROSE
    last_line = text.rstrip().rpartition("\n")[2]
    if "=" in last_line:
        yield last_line.rpartition("=")[2], Found.IN_PROSE


def _cut_first_sentence(text: str) -> str:
    return re.split(r"[.;]\s|,? (?:because|since|as|where|which)\b", text, maxsplit=1)[0]


def _resolve_braces(text: str) -> str:
    """Resolve LaTeX's roots, powers and fractions from the inside out."""
    for _ in range(_MAX_NESTED_BRACES):
        if "{" not in text and "\\" not in text:
            break
        resolved = _ROOT.sub(_write_plain_root, text)
        resolved = write_plain_math(_POWER.sub(r"^(\g<exponent>)", resolved))
        if resolved == text:
            break
        text = resolved
    return text


def _write_plain_root(match: re.Match[str]) -> str:
    radicand = match["of"] if match["digit"] is None else match["digit"]
    if match["degree"]:
        return f"(({radicand})^(1/{match['degree']}))"
    return f" sqrt({radicand})"


def _join_tokens(text: str) -> str | None:
    """Join tokens with every operator written out, or None where one is not allowed."""
    pieces: list[str] = []
    position = 0
    text = text.strip()
    while position < len(text):
        token = _TOKEN.match(text, position)
        if token is None:
            return None
        position = token.end()
        for piece in _split_names(token["name"]) if token["name"] else [token[0].strip()]:
            pieces += _add_operator(pieces[-1:], piece)
    expression = "".join(pieces)
    return expression if pieces and _is_well_formed(expression) else None


def _add_operator(left: list[str], piece: str) -> list[str]:
    """Write `piece` as it follows `left`: as the argument of a function, or multiplied by it."""
    if piece == "^":
        return ["**"]
    if left and left[0] in _FUNCTIONS and piece != "(":
        return [f"({piece})"]
    return ["*", piece] if left and _multiplies(left[0], piece) else [piece]


def _is_known(command: str) -> bool:
    return _RENAMED.get(command, command) in _FUNCTIONS | _GREEK


def _split_names(name: str) -> list[str]:
    """Keep a function or Greek letter as it is, and other words as a product of letters."""
    name = _RENAMED.get(name, name)
    lower = name.lower()
    if lower in _FUNCTIONS or lower in _GREEK:
        return [lower]
    if len(name) > 3:
        return ["?"]
    return [_RENAMED.get(letter, letter) for letter in name]


def _multiplies(left: str, right: str) -> bool:
    ends_operand = left[-1] == ")" or (left[-1].isalnum() and left not in _FUNCTIONS)
    return ends_operand and (right == "(" or right[0].isalnum() or right[0] == ".")


def _is_well_formed(expression: str) -> bool:
    import ast

    try:
        ast.parse(expression, mode="eval")
    except (SyntaxError, MemoryError, RecursionError):
        return False
    has_operand = any(character.isalnum() for character in expression)
    return has_operand and "?" not in expression and _BARE_FUNCTION.search(expression) is None
