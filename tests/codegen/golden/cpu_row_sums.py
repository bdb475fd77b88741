from vecdist.backends.cpu_language import *


@compiled
def prelude(x0, x1, o0, n0, n1):
    return ()


@compiled
def nest0(first, last, x0, x1, o0, n0, n1):
    size = max(1, 4096 // max(1, n1))
    for block in range(first, last):
        end = min(block * size + size, n0)
        for i0 in range(block * size, end):
            a5 = f8(0)
            for i1 in range(n1):
                v2 = load(x0, (i0) * n1 + i1)
                v3 = load(x1, i1)
                v4 = (v2 * v3)
                a5 = accumulate(a5, v4)
            v6 = f8(a5)
            store(o0, i0, v6)


@compiled
def finish(x0, x1, o0, n0, n1):
    return


@compiled
def kernel(x0, x1, o0, n0, n1):
    blocks = (n0 + max(1, 4096 // max(1, n1)) - 1) // max(1, 4096 // max(1, n1))
    nest0(i8(0), blocks, x0, x1, o0, n0, n1)
    finish(x0, x1, o0, n0, n1)
