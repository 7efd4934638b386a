"""Programs like those of HumanEval, written here: a function of some lines, a test of some calls.

As in the real file, nearly all are done in a fraction of a millisecond and a few search for long,
so that a program takes as long on average.
"""

from __future__ import annotations

from typing import NamedTuple

SETUP = "from typing import Dict, List\n\n"
LIGHT_PER_HEAVY = 40


class Program(NamedTuple):
    function: str
    solution: str
    test: str


LIGHT = [
    Program(
        "count_words",
        '''
def count_words(text: str, least: int = 1) -> Dict[str, int]:
    """Count words that occur at least `least` times.

    >>> count_words('a b a', 2)
    {'a': 2}
    """
    counts: Dict[str, int] = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return {word: n for word, n in counts.items() if n >= least}
''',
        """
def check(candidate):
    assert candidate('a b a') == {'a': 2, 'b': 1}
    assert candidate('a b a', 2) == {'a': 2}
    assert candidate('') == {}
    assert candidate('x') == {'x': 1}
    assert candidate('one two two three three three', 2) == {'two': 2, 'three': 3}
""",
    ),
    Program(
        "runs",
        '''
def runs(numbers: List[int]) -> List[List[int]]:
    """Cut a list where it stops rising.

    >>> runs([1, 2, 1])
    [[1, 2], [1]]
    """
    found: List[List[int]] = []
    for number in numbers:
        if found and found[-1][-1] < number:
            found[-1].append(number)
        else:
            found.append([number])
    return found
''',
        """
def check(candidate):
    assert candidate([]) == []
    assert candidate([3]) == [[3]]
    assert candidate([1, 2, 1]) == [[1, 2], [1]]
    assert candidate([5, 4, 3]) == [[5], [4], [3]]
    assert candidate(list(range(20))) == [list(range(20))]
    assert candidate([1, 1, 2, 2]) == [[1], [1, 2], [2]]
""",
    ),
    Program(
        "closing",
        '''
def closing(text: str) -> str:
    """Return the brackets that are missing at the end of a text.

    >>> closing('(a [b')
    '])'
    """
    pairs = {'(': ')', '[': ']', '{': '}'}
    open_ones: List[str] = []
    for character in text:
        if character in pairs:
            open_ones.append(pairs[character])
        elif open_ones and character == open_ones[-1]:
            open_ones.pop()
    return ''.join(reversed(open_ones))
''',
        """
def check(candidate):
    assert candidate('') == ''
    assert candidate('(a [b') == '])'
    assert candidate('()[]{}') == ''
    assert candidate('{{{') == '}}}'
    assert candidate('(]') == ')'
    for depth in range(10):
        assert candidate('(' * depth) == ')' * depth
""",
    ),
    Program(
        "rounded_mean",
        '''
def rounded_mean(rows: List[List[float]], places: int) -> List[float]:
    """Return the rounded mean of every row that is not empty."""
    means = [sum(row) / len(row) for row in rows if row]
    return [round(mean, places) for mean in means]
''',
        """
def check(candidate):
    assert candidate([[1.0, 2.0], []], 1) == [1.5]
    assert candidate([], 3) == []
    assert candidate([[1.0, 1.0, 2.0], [5.0]], 2) == [1.33, 5.0]
    assert candidate([[-1.0, 1.0]] * 3, 0) == [0.0, 0.0, 0.0]
""",
    ),
]
HEAVY = Program(
    "sum_of_products",
    '''
def sum_of_products(limit: int) -> int:
    """Sum the numbers below `limit` that are a product of two primes."""
    def is_prime(number: int) -> bool:
        return number > 1 and all(number % divisor for divisor in range(2, number))
    total = 0
    for number in range(limit):
        for divisor in range(2, number):
            if number % divisor == 0:
                if is_prime(divisor) and is_prime(number // divisor):
                    total += number
                break
    return total
''',
    """
def check(candidate):
    assert candidate(10) == 19
    assert candidate(26) == 126
    assert candidate(3000) == 1227096
""",
)


def programs(number: int) -> list[Program]:
    """Return so many programs, the same every time."""
    return [
        HEAVY if index % LIGHT_PER_HEAVY == 0 else LIGHT[index % len(LIGHT)]
        for index in range(number)
    ]
