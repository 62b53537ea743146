"""Products of vectors of whole numbers: exact, with numpy and without."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from operator import mul

from promptc.sources.retrieval.encoder import Vector


def multiply(vectors: Sequence[Vector], vector: Vector) -> list[int]:
    """The product of each of `vectors` with `vector`.

    numpy is used where something else has loaded it: loading it takes longer than a hundred products. float32 is exact here (see
    `encoder.SCALE`), so the order in which a library adds does not matter.
    """
    numpy = sys.modules.get("numpy")
    if numpy is None or not vectors:
        return [sum(map(mul, one, vector)) for one in vectors]
    matrix = numpy.array(vectors, dtype=numpy.int16).astype(numpy.float32)
    products: list[int] = (matrix @ numpy.array(vector, numpy.float32)).astype(numpy.int64).tolist()
    return products
