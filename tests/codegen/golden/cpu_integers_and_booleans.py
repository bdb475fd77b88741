from vecdist.runtime.cpu.language import *


@compiled
def prelude():
    pass


@compiled
def nest0(first, last, p_a8, x0, x1, x2, x3, x4, o1, n0):
    v2 = x1
    v4 = x2
    v6 = x3
    v10 = x4
    widest()
    size = 4096
    for block in range(first, last):
        a8 = i8(0)
        end = min(block * size + size, n0)
        for i0 in range(block * size, end):
            v1 = load(x0, i0, -1, 2)
            v3 = v1 < v2
            v5 = i8(u8(i8(v1)) * u8(i8(v4)))
            v7 = select(v3, v5, v6)
            a8 = accumulate_sum(a8, v7)
            v11 = v1 < v10
            store(o1, i0, v11, 1, 2)
        p_a8[block] = a8


@compiled
def finish(p_a8, o0):
    v9 = i8(total_sum(p_a8))
    store(o0, 0, v9, 0, 2)
    return


@compiled
def kernel(x0, x1, x2, x3, x4, o0, o1, n0):
    widest()
    doubles = room(0, f8)
    singles = room(0, f4)
    integers = room(0, i8)
    prelude()
    blocks = (n0 + 4096 - 1) // 4096
    p_a8 = empty(blocks, i8)
    nest0(i8(0), blocks, p_a8, x0, x1, x2, x3, x4, o1, n0)
    finish(p_a8, o0)


@compiled
def part(number, first, last, p_a8, doubles, singles, integers, x0, x1, x2, x3, x4, o0, o1, n0):
    if number == 0:
        prelude()
    elif number == 1:
        nest0(first, last, p_a8, x0, x1, x2, x3, x4, o1, n0)
    elif number == 2:
        finish(p_a8, o0)
