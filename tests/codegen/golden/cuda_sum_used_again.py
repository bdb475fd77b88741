from vecdist.backends.cuda_language import *


def kernel(x0, o0, n0, partials, arrivals, lanes):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    shared = cuda.shared.array(256, f8)
    v6 = float(n0)
    a4 = f8(0)
    f_v3_0 = f8(0)
    f_v3_1 = f8(0)
    f_v3_2 = f8(0)
    f_v3_3 = f8(0)
    f_v3_4 = f8(0)
    f_v3_5 = f8(0)
    f_v3_6 = f8(0)
    f_v3_7 = f8(0)
    ahead = block * 2048
    if ahead + 2048 <= n0:
        f_v3_0 = x0[(ahead + thread + 0)]
        f_v3_1 = x0[(ahead + thread + 256)]
        f_v3_2 = x0[(ahead + thread + 512)]
        f_v3_3 = x0[(ahead + thread + 768)]
        f_v3_4 = x0[(ahead + thread + 1024)]
        f_v3_5 = x0[(ahead + thread + 1280)]
        f_v3_6 = x0[(ahead + thread + 1536)]
        f_v3_7 = x0[(ahead + thread + 1792)]
    for base in range(block * 2048, n0, blocks * 2048):
        done = False
        if base + 2048 <= n0:
            i2_0 = base + thread + 0
            v3_0 = f_v3_0
            i2_1 = base + thread + 256
            v3_1 = f_v3_1
            i2_2 = base + thread + 512
            v3_2 = f_v3_2
            i2_3 = base + thread + 768
            v3_3 = f_v3_3
            i2_4 = base + thread + 1024
            v3_4 = f_v3_4
            i2_5 = base + thread + 1280
            v3_5 = f_v3_5
            i2_6 = base + thread + 1536
            v3_6 = f_v3_6
            i2_7 = base + thread + 1792
            v3_7 = f_v3_7
            ahead = base + blocks * 2048
            if ahead + 2048 <= n0:
                f_v3_0 = x0[(ahead + thread + 0)]
                f_v3_1 = x0[(ahead + thread + 256)]
                f_v3_2 = x0[(ahead + thread + 512)]
                f_v3_3 = x0[(ahead + thread + 768)]
                f_v3_4 = x0[(ahead + thread + 1024)]
                f_v3_5 = x0[(ahead + thread + 1280)]
                f_v3_6 = x0[(ahead + thread + 1536)]
                f_v3_7 = x0[(ahead + thread + 1792)]
            a4 = a4 + f8((((v3_0 + v3_1) + (v3_2 + v3_3)) + ((v3_4 + v3_5) + (v3_6 + v3_7))))
            done = True
        if not done:
            for i2 in range(base + thread, min(base + 2048, n0), 256):
                v3 = x0[i2]
                a4 = a4 + f8(v3)
    shared[0 + thread] = a4
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
    cuda.syncthreads()
    if thread == 0:
        cuda.threadfence()
        cuda.atomic.add(arrivals, 1, 1)
        while cuda.atomic.add(arrivals, 1, 0) < blocks:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    a4 = f8(0)
    for other in range(thread, blocks, 256):
        a4 = a4 + partials[0 * blocks + other]
    shared[0 + thread] = a4
    cuda.syncthreads()
    half = 128
    while half > 0:
        if thread < half:
            shared[0 + thread] = shared[0 + thread] + shared[0 + thread + half]
        cuda.syncthreads()
        half = half // 2
    a4 = shared[0]
    cuda.syncthreads()
    v5 = f8(a4)
    v7 = (v5 / v6)
    f_v1_0 = f8(0)
    f_v1_1 = f8(0)
    f_v1_2 = f8(0)
    f_v1_3 = f8(0)
    f_v1_4 = f8(0)
    f_v1_5 = f8(0)
    f_v1_6 = f8(0)
    f_v1_7 = f8(0)
    ahead = block * 2048
    if ahead + 2048 <= n0:
        f_v1_0 = x0[(ahead + thread + 0)]
        f_v1_1 = x0[(ahead + thread + 256)]
        f_v1_2 = x0[(ahead + thread + 512)]
        f_v1_3 = x0[(ahead + thread + 768)]
        f_v1_4 = x0[(ahead + thread + 1024)]
        f_v1_5 = x0[(ahead + thread + 1280)]
        f_v1_6 = x0[(ahead + thread + 1536)]
        f_v1_7 = x0[(ahead + thread + 1792)]
    for base in range(block * 2048, n0, blocks * 2048):
        done = False
        if base + 2048 <= n0:
            i0_0 = base + thread + 0
            v1_0 = f_v1_0
            i0_1 = base + thread + 256
            v1_1 = f_v1_1
            i0_2 = base + thread + 512
            v1_2 = f_v1_2
            i0_3 = base + thread + 768
            v1_3 = f_v1_3
            i0_4 = base + thread + 1024
            v1_4 = f_v1_4
            i0_5 = base + thread + 1280
            v1_5 = f_v1_5
            i0_6 = base + thread + 1536
            v1_6 = f_v1_6
            i0_7 = base + thread + 1792
            v1_7 = f_v1_7
            ahead = base + blocks * 2048
            if ahead + 2048 <= n0:
                f_v1_0 = x0[(ahead + thread + 0)]
                f_v1_1 = x0[(ahead + thread + 256)]
                f_v1_2 = x0[(ahead + thread + 512)]
                f_v1_3 = x0[(ahead + thread + 768)]
                f_v1_4 = x0[(ahead + thread + 1024)]
                f_v1_5 = x0[(ahead + thread + 1280)]
                f_v1_6 = x0[(ahead + thread + 1536)]
                f_v1_7 = x0[(ahead + thread + 1792)]
            v8_0 = (v1_0 - v7)
            o0[i0_0] = v8_0
            v8_1 = (v1_1 - v7)
            o0[i0_1] = v8_1
            v8_2 = (v1_2 - v7)
            o0[i0_2] = v8_2
            v8_3 = (v1_3 - v7)
            o0[i0_3] = v8_3
            v8_4 = (v1_4 - v7)
            o0[i0_4] = v8_4
            v8_5 = (v1_5 - v7)
            o0[i0_5] = v8_5
            v8_6 = (v1_6 - v7)
            o0[i0_6] = v8_6
            v8_7 = (v1_7 - v7)
            o0[i0_7] = v8_7
            done = True
        if not done:
            for i0 in range(base + thread, min(base + 2048, n0), 256):
                v1 = x0[i0]
                v8 = (v1 - v7)
                o0[i0] = v8
    last = cuda.shared.array(1, i4)
    if thread == 0:
        cuda.threadfence()
        last[0] = 1 if cuda.atomic.add(arrivals, 0, 1) == blocks - 1 else 0
    cuda.syncthreads()
    if last[0] == 1:
        cuda.threadfence()
        if thread == 0:
            arrivals[0] = 0
            arrivals[1] = 0
            arrivals[2] = 0
            pass
