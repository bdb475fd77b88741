"""Blocks of 64 threads in the simulator's process: two warps that meet, in a quarter of the time that eight take there.

To be imported before what takes the size of a block from ``vecdist.codegen.cuda.grid``.
"""

import os
import sys

from vecdist.codegen.cuda import grid
from vecdist.runtime.cuda import backend as cuda

THREADS = 64

if os.environ.get("NUMBA_ENABLE_CUDASIM"):
    sizes = {"THREADS": THREADS, "WARPS": THREADS // grid.WARP}
    for module in [module for name, module in sys.modules.items() if name.startswith("vecdist.")]:
        vars(module).update({name: size for name, size in sizes.items() if name in vars(module)})
    assert cuda.THREADS == THREADS
