from vecdist.runtime.cpu.language import *


@compiled
def prelude(x0, x1, o0, n0):
    v2 = x1
    return (v2,)


@compiled
def nest0(first, last, v2, x0, x1, o0, n0):
    widest()
    size = 4096
    for block in range(first, last):
        end = min(block * size + size, n0)
        for i0 in range(block * size, end):
            v1 = load(x0, i0, -1, 1)
            v3 = v1 * v2
            v4 = sqrt(v1)
            v5 = v3 + v4
            store(o0, i0, v5, 0, 1)


@compiled
def finish(v2, x0, x1, o0, n0):
    return


@compiled
def kernel(x0, x1, o0, n0):
    widest()
    v2, = prelude(x0, x1, o0, n0)
    blocks = (n0 + 4096 - 1) // 4096
    nest0(i8(0), blocks, v2, x0, x1, o0, n0)
