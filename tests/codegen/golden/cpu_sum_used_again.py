from vecdist.backends.cpu_language import *


@compiled
def prelude(x0, o0, n0):
    v6 = float(n0)
    return (v6, )


@compiled
def nest0(first, last, p_a4, v6, x0, o0, n0):
    size = 4096
    for block in range(first, last):
        a4 = f8(0)
        end = min(block * size + size, n0)
        for i2 in range(block * size, end):
            v3 = load(x0, i2)
            a4 = accumulate(a4, v3)
        p_a4[block] = a4


@compiled
def nest1(first, last, p_a4, v6, x0, o0, n0):
    v5 = f8(total(p_a4))
    v7 = (v5 / v6)
    size = 4096
    for block in range(first, last):
        end = min(block * size + size, n0)
        for i0 in range(block * size, end):
            v1 = load(x0, i0)
            v8 = (v1 - v7)
            store(o0, i0, v8)


@compiled
def finish(p_a4, v6, x0, o0, n0):
    v5 = f8(total(p_a4))
    v7 = (v5 / v6)
    return


@compiled
def kernel(x0, o0, n0):
    v6, = prelude(x0, o0, n0)
    blocks = (n0 + 4096 - 1) // 4096
    p_a4 = np.empty(blocks, np.float64)
    nest0(i8(0), blocks, p_a4, v6, x0, o0, n0)
    blocks = (n0 + 4096 - 1) // 4096
    nest1(i8(0), blocks, p_a4, v6, x0, o0, n0)
    finish(p_a4, v6, x0, o0, n0)
