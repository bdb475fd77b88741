from vecdist.backends.cpu_language import *


@compiled
def prelude(x0, o0, o1, n0, n1, n2, s0):
    x0_s0 = x0.strides[0]
    x0_s1 = x0.strides[1]
    return ()


@compiled
def nest0(first, last, p_a5, x0, o0, o1, n0, n1, n2, s0):
    x0_s0 = x0.strides[0]
    x0_s1 = x0.strides[1]
    size = max(1, 4096 // max(1, n1))
    for block in range(first, last):
        a5 = f8(0)
        end = min(block * size + size, n2)
        for i0 in range(block * size, end):
            for i1 in range(n1):
                v2 = load_bytes(x0, ((s0 + i0)) * x0_s0 + (i1) * x0_s1)
                v3 = load_bytes(x0, (i0) * x0_s0 + (i1) * x0_s1)
                v4 = (v2 * v3)
                a5 = accumulate(a5, v4)
        p_a5[block] = a5


@compiled
def nest1(first, last, p_a5, x0, o0, o1, n0, n1, n2, s0):
    x0_s0 = x0.strides[0]
    x0_s1 = x0.strides[1]
    size = max(1, 4096 // max(1, n1))
    for block in range(first, last):
        end = min(block * size + size, n0)
        for i7 in range(block * size, end):
            v10 = ((i7 >= 0) & (i7 < n2))
            v13 = (((i7 - s0) >= 0) & ((i7 - s0) < n2))
            for i8 in range(n1):
                v9 = load_bytes(x0, ((s0 + i7)) * x0_s0 + (i8) * x0_s1) if ((i7 >= 0) & (i7 < n2)) else f8(0)
                v11 = select(v10, v9, f8(0.0))
                v12 = load_bytes(x0, ((i7 - s0)) * x0_s0 + (i8) * x0_s1) if (((i7 - s0) >= 0) & ((i7 - s0) < n2)) else f8(0)
                v14 = select(v13, v12, f8(0.0))
                v15 = (v11 + v14)
                store(o1, (i7) * n1 + i8, v15)


@compiled
def finish(p_a5, x0, o0, o1, n0, n1, n2, s0):
    x0_s0 = x0.strides[0]
    x0_s1 = x0.strides[1]
    v6 = f8(total(p_a5))
    store(o0, 0, v6)
    return


@compiled
def kernel(x0, o0, o1, n0, n1, n2, s0):
    blocks = (n2 + max(1, 4096 // max(1, n1)) - 1) // max(1, 4096 // max(1, n1))
    p_a5 = np.empty(blocks, np.float64)
    nest0(i8(0), blocks, p_a5, x0, o0, o1, n0, n1, n2, s0)
    blocks = (n0 + max(1, 4096 // max(1, n1)) - 1) // max(1, 4096 // max(1, n1))
    nest1(i8(0), blocks, p_a5, x0, o0, o1, n0, n1, n2, s0)
    finish(p_a5, x0, o0, o1, n0, n1, n2, s0)
