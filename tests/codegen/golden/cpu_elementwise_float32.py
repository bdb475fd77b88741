from vecdist.runtime.cpu.language import *


@compiled
def prelude():
    pass


@compiled
def nest0(first, last, x0, x1, o0, n0):
    v2 = x1
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
def finish():
    return


@compiled
def kernel(x0, x1, o0, n0):
    widest()
    doubles = room(0, f8)
    singles = room(0, f4)
    integers = room(0, i8)
    prelude()
    blocks = (n0 + 4096 - 1) // 4096
    nest0(i8(0), blocks, x0, x1, o0, n0)


@compiled
def part(number, first, last, doubles, singles, integers, x0, x1, o0, n0):
    if number == 0:
        prelude()
    elif number == 1:
        nest0(first, last, x0, x1, o0, n0)
    elif number == 2:
        finish()
