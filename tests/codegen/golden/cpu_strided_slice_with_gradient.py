from vecdist.runtime.cpu.language import *


@compiled
def prelude(x0):
    x0_s0 = x0.strides[0]
    x0_s1 = x0.strides[1]


@compiled
def nest0(first, last, p_a7, x0, n1, n2, s0):
    widest()
    x0_s0 = x0.strides[0]
    x0_s1 = x0.strides[1]
    size = max(1, 4096 // max(1, n1))
    for block in range(first, last):
        a7 = f8(0)
        end = min(block * size + size, n2)
        for start in range(block * size, end, 256):
            stop = min(start + 256, end)
            for i0 in range(start, stop):
                for i3 in range(n1):  # masked
                    v4 = load_bytes(x0, (i0 + s0) * x0_s0 + i3 * x0_s1, -1, 2)
                    v5 = load_bytes(x0, i0 * x0_s0 + i3 * x0_s1, -1, 2)
                    v6 = v4 * v5
                    a7 = accumulate_sum(a7, v6)
        p_a7[block] = a7


@compiled
def nest1(first, last, x0, o1, n0, n1, n2, s0):
    widest()
    x0_s0 = x0.strides[0]
    x0_s1 = x0.strides[1]
    size = max(1, 4096 // max(1, n1))
    b_v12 = empty(256, i1)
    b_v15 = empty(256, i1)
    for block in range(first, last):
        end = min(block * size + size, n0)
        for start in range(block * size, end, 256):
            stop = min(start + 256, end)
            for i9 in range(start, stop):
                v12 = (i9 >= 0) & (i9 < n2)
                v15 = (i9 - s0 >= 0) & (i9 - s0 < n2)
                store(b_v12, i9 - start, i1(v12), 2, 4)
                store(b_v15, i9 - start, i1(v15), 3, 4)
            for i9 in range(start, stop):
                v12 = load(b_v12, i9 - start, 2, 4) != 0
                v15 = load(b_v15, i9 - start, 3, 4) != 0
                for i10 in range(n1):  # masked
                    v11 = load_bytes(x0, (i9 + s0) * x0_s0 + i10 * x0_s1, -1, 4) if (i9 >= 0) & (i9 < n2) else f8(0)
                    v13 = select(v12, v11, f8(0.0))
                    v14 = load_bytes(x0, (i9 - s0) * x0_s0 + i10 * x0_s1, -1, 4) if (i9 - s0 >= 0) & (i9 - s0 < n2) else f8(0)
                    v16 = select(v15, v14, f8(0.0))
                    v17 = v13 + v16
                    store(o1, i9 * n1 + i10, v17, 1, 4)


@compiled
def finish(p_a7, x0, o0):
    x0_s0 = x0.strides[0]
    x0_s1 = x0.strides[1]
    v8 = f8(total_sum(p_a7))
    store(o0, 0, v8, 0, 2)
    return


@compiled
def kernel(x0, o0, o1, n0, n1, n2, s0):
    widest()
    doubles = room(0, f8)
    singles = room(0, f4)
    integers = room(0, i8)
    prelude(x0)
    blocks = (n2 + max(1, 4096 // max(1, n1)) - 1) // max(1, 4096 // max(1, n1))
    p_a7 = empty(blocks, f8)
    nest0(i8(0), blocks, p_a7, x0, n1, n2, s0)
    blocks = (n0 + max(1, 4096 // max(1, n1)) - 1) // max(1, 4096 // max(1, n1))
    nest1(i8(0), blocks, x0, o1, n0, n1, n2, s0)
    finish(p_a7, x0, o0)


@compiled
def part(number, first, last, p_a7, doubles, singles, integers, x0, o0, o1, n0, n1, n2, s0):
    if number == 0:
        prelude(x0)
    elif number == 1:
        nest0(first, last, p_a7, x0, n1, n2, s0)
    elif number == 2:
        nest1(first, last, x0, o1, n0, n1, n2, s0)
    elif number == 3:
        finish(p_a7, x0, o0)
