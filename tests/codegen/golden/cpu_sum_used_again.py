from vecdist.runtime.cpu.language import *


@compiled
def prelude(doubles, n0):
    v7 = float(n0)
    store(doubles, 0, f8(v7), -1, 1)


@compiled
def nest0(first, last, p_a5, x0, n0):
    widest()
    size = 4096
    for block in range(first, last):
        a5 = f8(0)
        end = min(block * size + size, n0)
        for i3 in range(block * size, end):
            v4 = load(x0, i3, -1, 1)
            a5 = accumulate_sum(a5, v4)
        p_a5[block] = a5


@compiled
def nest1(first, last, p_a5, doubles, x0, o0, n0):
    v7 = load(doubles, 0, -1, 1)
    widest()
    v6 = f8(total_sum(p_a5))
    v8 = v6 / v7
    size = 4096
    for block in range(first, last):
        end = min(block * size + size, n0)
        for i0 in range(block * size, end):
            v1 = load(x0, i0, -1, 1)
            v9 = v1 - v8
            store(o0, i0, v9, 0, 1)


@compiled
def finish():
    return


@compiled
def kernel(x0, o0, n0):
    widest()
    doubles = room(1, f8)
    singles = room(0, f4)
    integers = room(0, i8)
    prelude(doubles, n0)
    blocks = (n0 + 4096 - 1) // 4096
    p_a5 = empty(blocks, f8)
    nest0(i8(0), blocks, p_a5, x0, n0)
    blocks = (n0 + 4096 - 1) // 4096
    nest1(i8(0), blocks, p_a5, doubles, x0, o0, n0)


@compiled
def part(number, first, last, p_a5, doubles, singles, integers, x0, o0, n0):
    if number == 0:
        prelude(doubles, n0)
    elif number == 1:
        nest0(first, last, p_a5, x0, n0)
    elif number == 2:
        nest1(first, last, p_a5, doubles, x0, o0, n0)
    elif number == 3:
        finish()
