import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARK = Path(__file__).parents[1] / "benchmarks" / "memory.py"


@pytest.mark.slow
def test_memory_of_ten_million_records_stays_within_its_limits():
    done = subprocess.run([sys.executable, str(BENCHMARK)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
