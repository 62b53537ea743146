"""Prints digests of drawn packs, for a process with another hash seed: `python -m tests.property.digest_packs FOLDER SEEDS [COUNTER]`."""

import json
import sys
from pathlib import Path

from tests.property.drawing.draws import RICH, draw_any
from tests.property.load_drawn import Library
from tests.property.test_deterministic import digest_prompts

if __name__ == "__main__":
    library = Library(Path(sys.argv[1]))
    draw = RICH[sys.argv[3]] if len(sys.argv) > 3 else draw_any
    print(json.dumps([digest_prompts(library.draw(draw, seed)) for seed in json.loads(sys.argv[2])]))
