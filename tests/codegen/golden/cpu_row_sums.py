from vecdist.runtime.cpu.language import *


@compiled
def prelude():
    pass


@compiled
def nest0(first, last, x0, x1, o0, n0, n1):
    widest()
    size = max(max(16, min(64, 8192 // max(1, n1) // 16 * 16)), 4096 // max(1, n1) // 64 * 64)
    b_v8 = empty(256, f8)
    for block in range(first, last):
        end = min(block * size + size, n0)
        for start in range(block * size, end, 256):
            stop = min(start + 256, end)
            gemv(x0, start * n1 + 0, n1, x1, 0, stop - start, n1, b_v8, 0)
            for i0 in range(start, stop):
                v8 = load(b_v8, i0 - start, 1, 2)
                store(o0, i0, v8, 0, 2)


@compiled
def finish():
    return


@compiled
def kernel(x0, x1, o0, n0, n1):
    widest()
    doubles = room(0, f8)
    singles = room(0, f4)
    integers = room(0, i8)
    prelude()
    blocks = (n0 + max(max(16, min(64, 8192 // max(1, n1) // 16 * 16)), 4096 // max(1, n1) // 64 * 64) - 1) // max(max(16, min(64, 8192 // max(1, n1) // 16 * 16)), 4096 // max(1, n1) // 64 * 64)
    nest0(i8(0), blocks, x0, x1, o0, n0, n1)


@compiled
def part(number, first, last, doubles, singles, integers, x0, x1, o0, n0, n1):
    if number == 0:
        prelude()
    elif number == 1:
        nest0(first, last, x0, x1, o0, n0, n1)
    elif number == 2:
        finish()
