from vecdist.backends.cuda_language import *


def kernel(x0, x0_s0, x0_s1, o0, o1, n0, n1, n2, s0, partials, arrivals, lanes):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    shared = cuda.shared.array(256, f8)
    a5 = f8(0)
    lane = thread % lanes
    for i0 in range(first // lanes, n2, step // lanes):
        for i1 in range(lane, n1, lanes):
            v2 = x0[((s0 + i0)) * x0_s0 + (i1) * x0_s1]
            v3 = x0[(i0) * x0_s0 + (i1) * x0_s1]
            v4 = (v2 * v3)
            a5 = a5 + f8(v4)
    lane = thread % lanes
    for i7 in range(first // lanes, n0, step // lanes):
        v10 = ((i7 >= 0) & (i7 < n2))
        v13 = (((i7 - s0) >= 0) & ((i7 - s0) < n2))
        for i8 in range(lane, n1, lanes):
            v9 = (x0[((s0 + i7)) * x0_s0 + (i8) * x0_s1] if ((i7 >= 0) & (i7 < n2)) else f8(0))
            v11 = cuda.selp(v10, v9, f8(0.0))
            v12 = (x0[((i7 - s0)) * x0_s0 + (i8) * x0_s1] if (((i7 - s0) >= 0) & ((i7 - s0) < n2)) else f8(0))
            v14 = cuda.selp(v13, v12, f8(0.0))
            v15 = (v11 + v14)
            o1[(i7) * n1 + i8] = v15
    shared[0 + thread] = a5
    cuda.syncthreads()
    half = 128
    while half > 0:
        if thread < half:
            shared[0 + thread] = shared[0 + thread] + shared[0 + thread + half]
        cuda.syncthreads()
        half = half // 2
    if thread == 0:
        partials[0 * blocks + block] = shared[0]
    cuda.syncthreads()
    last = cuda.shared.array(1, i4)
    if thread == 0:
        cuda.threadfence()
        last[0] = 1 if cuda.atomic.add(arrivals, 0, 1) == blocks - 1 else 0
    cuda.syncthreads()
    if last[0] == 1:
        cuda.threadfence()
        a5 = f8(0)
        for other in range(thread, blocks, 256):
            a5 = a5 + partials[0 * blocks + other]
        shared[0 + thread] = a5
        cuda.syncthreads()
        half = 128
        while half > 0:
            if thread < half:
                shared[0 + thread] = shared[0 + thread] + shared[0 + thread + half]
            cuda.syncthreads()
            half = half // 2
        a5 = shared[0]
        cuda.syncthreads()
        if thread == 0:
            arrivals[0] = 0
            arrivals[1] = 0
            arrivals[2] = 0
            pass
            v6 = f8(a5)
            o0[0] = v6
