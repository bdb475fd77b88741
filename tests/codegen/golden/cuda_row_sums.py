from vecdist.backends.cuda_language import *


def kernel(x0, x1, o0, n0, n1, lanes):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    lane = thread % lanes
    mates = u4(((1 << lanes) - 1) << (thread % 32 - lane))
    for i0 in range(first // lanes, n0, step // lanes):
        a7 = f8(0)
        for i3 in range(lane, n1, lanes):
            v4 = x0[(i0) * n1 + i3]
            v5 = x1[i3]
            v6 = (v4 * v5)
            a7 = a7 + f8(v6)
        hop = lanes // 2
        while hop > 0:
            found = cuda.shfl_xor_sync(mates, a7, hop)
            a7 = (a7 + found)
            hop = hop // 2
        v8 = f8(a7)
        if lane == 0:
            o0[i0] = v8
    if first == 0:
        pass
