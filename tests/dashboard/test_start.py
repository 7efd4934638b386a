"""What a start of the dashboard loads."""

import re
import subprocess
import sys
from pathlib import Path

import poor_bench.dashboard as package
from poor_bench.dashboard import USED_COMPONENTS

_LIST = """
import sys, poor_bench.dashboard.pages.registry
print(*(name for name in sys.modules if name.startswith("dash_mantine_components.")))
"""


def test_a_start_loads_the_components_that_pages_use_and_no_other() -> None:
    folder = Path(package.__file__).parent
    texts = (path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    used = {name for text in texts for name in re.findall(r"\bdmc\.([A-Z]\w+)", text)}

    done = subprocess.run([sys.executable, "-c", _LIST], check=True, capture_output=True, text=True)
    loaded = {name.rpartition(".")[2] for name in done.stdout.split()}

    assert used
    assert used == set(USED_COMPONENTS)
    assert used == {name for name in loaded if name[0].isupper()}
