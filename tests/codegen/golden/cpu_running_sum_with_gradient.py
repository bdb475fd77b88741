from vecdist.runtime.cpu.language import *


@compiled
def prelude():
    pass


@compiled
def nest0(first, last, x0, o1, o3, n0):
    widest()
    size = max(1, 4096 // max(1, n0))
    for block in range(first, last):
        end = min(block * size + size, 1)
        for start in range(block * size, end, 256):
            stop = min(start + 256, end)
            for i0 in range(start, stop):
                a5 = f8(0)
                a14 = f8(0)
                for i3 in range(n0):  # masked
                    v4 = load(x0, i3, -1, 4)
                    a5 = accumulate_sum(a5, v4)
                    v6 = f8(a5)
                    store(o1, i3, v6, 1, 4)
                    v13 = load(x0, n0 - 1 - i3, -1, 4)
                    a14 = accumulate_sum(a14, v13)
                    v15 = f8(a14)
                    store(o3, n0 - 1 - i3, v15, 3, 4)


@compiled
def nest1(first, last, p_a11, x0, o1, o2, o3, n0):
    widest()
    size = 4096
    for block in range(first, last):
        a11 = f8(0)
        end = min(block * size + size, n0)
        for i7 in range(block * size, end):
            v8 = load(o1, i7, 1, 4)
            v9 = load(x0, i7, -1, 4)
            v10 = v8 * v9
            a11 = accumulate_sum(a11, v10)
            v16 = load(o3, i7, 3, 4)
            v17 = v8 + v16
            store(o2, i7, v17, 2, 4)
        p_a11[block] = a11


@compiled
def finish(p_a11, o0):
    v12 = f8(total_sum(p_a11))
    store(o0, 0, v12, 0, 4)
    return


@compiled
def kernel(x0, o0, o1, o2, o3, n0):
    widest()
    doubles = room(0, f8)
    singles = room(0, f4)
    integers = room(0, i8)
    prelude()
    blocks = (1 + max(1, 4096 // max(1, n0)) - 1) // max(1, 4096 // max(1, n0))
    nest0(i8(0), blocks, x0, o1, o3, n0)
    blocks = (n0 + 4096 - 1) // 4096
    p_a11 = empty(blocks, f8)
    nest1(i8(0), blocks, p_a11, x0, o1, o2, o3, n0)
    finish(p_a11, o0)


@compiled
def part(number, first, last, p_a11, doubles, singles, integers, x0, o0, o1, o2, o3, n0):
    if number == 0:
        prelude()
    elif number == 1:
        nest0(first, last, x0, o1, o3, n0)
    elif number == 2:
        nest1(first, last, p_a11, x0, o1, o2, o3, n0)
    elif number == 3:
        finish(p_a11, o0)
