"""Random programs by the interpreter, as many as are asked for: ``python tests/functions/program_runs.py 0 300``."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from functions.test_programs import agree
from interpreting import by_interpreter

if __name__ == "__main__":
    with by_interpreter():
        for seed in range(*map(int, sys.argv[1:])):
            try:
                agree(seed)
            except Exception as error:  # the others are tried, whatever is wrong with one
                print(f"seed {seed}: {type(error).__name__}: {error}")
