from vecdist.backends.cuda_language import *


def kernel(x0, x1, o0, n0, n1, partials, arrivals, lanes):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    lane = thread % lanes
    for i0 in range(first // lanes, n0, step // lanes):
        a5 = f8(0)
        for i1 in range(lane, n1, lanes):
            v2 = x0[(i0) * n1 + i1]
            v3 = x1[i1]
            v4 = (v2 * v3)
            a5 = a5 + f8(v4)
        hop = lanes // 2
        while hop > 0:
            a5 = a5 + cuda.shfl_xor_sync(-1, a5, hop)
            hop = hop // 2
        v6 = f8(a5)
        if lane == 0:
            o0[i0] = v6
    if first == 0:
        pass
