from vecdist.runtime.cuda.language import *


def kernel(x0, x0_s0, x0_s1, o0, o1, n0, n1, n2, s0, partials, arrivals, lanes_i0, lanes_i9):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    shared = cuda.shared.array(8, f8)
    lanes = lanes_i0
    a7 = f8(0)
    lane = thread % lanes
    mask = u4((1 << lanes) - 1 << thread % 32 - lane)
    split = 0
    while 4 * lanes << split < n1:
        split = split + 1
    for turn in range(first // lanes, n2 << split, step // lanes):
        i0 = turn >> split
        base = (turn - (i0 << split)) * (4 * lanes)
        if base < n1:
            done = False
            if base + 4 * lanes <= n1:
                i3_0 = base + lane
                v4_0 = x0[(i0 + s0) * x0_s0 + i3_0 * x0_s1]
                v5_0 = x0[i0 * x0_s0 + i3_0 * x0_s1]
                i3_1 = base + lane + 1 * lanes
                v4_1 = x0[(i0 + s0) * x0_s0 + i3_1 * x0_s1]
                v5_1 = x0[i0 * x0_s0 + i3_1 * x0_s1]
                i3_2 = base + lane + 2 * lanes
                v4_2 = x0[(i0 + s0) * x0_s0 + i3_2 * x0_s1]
                v5_2 = x0[i0 * x0_s0 + i3_2 * x0_s1]
                i3_3 = base + lane + 3 * lanes
                v4_3 = x0[(i0 + s0) * x0_s0 + i3_3 * x0_s1]
                v5_3 = x0[i0 * x0_s0 + i3_3 * x0_s1]
                # so that no load waits for what is computed
                cuda.syncwarp(mask)
                v6_0 = v4_0 * v5_0
                v6_1 = v4_1 * v5_1
                v6_2 = v4_2 * v5_2
                v6_3 = v4_3 * v5_3
                a7 = a7 + f8(v6_0 + v6_1 + (v6_2 + v6_3))
                done = True
            if not done:
                there_i3_0 = base + lane < n1
                i3_0 = base + lane
                v4_0 = f8(0)
                v5_0 = f8(0)
                if there_i3_0:
                    v4_0 = x0[(i0 + s0) * x0_s0 + i3_0 * x0_s1]
                    v5_0 = x0[i0 * x0_s0 + i3_0 * x0_s1]
                there_i3_1 = base + lane + 1 * lanes < n1
                i3_1 = base + lane + 1 * lanes
                v4_1 = f8(0)
                v5_1 = f8(0)
                if there_i3_1:
                    v4_1 = x0[(i0 + s0) * x0_s0 + i3_1 * x0_s1]
                    v5_1 = x0[i0 * x0_s0 + i3_1 * x0_s1]
                there_i3_2 = base + lane + 2 * lanes < n1
                i3_2 = base + lane + 2 * lanes
                v4_2 = f8(0)
                v5_2 = f8(0)
                if there_i3_2:
                    v4_2 = x0[(i0 + s0) * x0_s0 + i3_2 * x0_s1]
                    v5_2 = x0[i0 * x0_s0 + i3_2 * x0_s1]
                there_i3_3 = base + lane + 3 * lanes < n1
                i3_3 = base + lane + 3 * lanes
                v4_3 = f8(0)
                v5_3 = f8(0)
                if there_i3_3:
                    v4_3 = x0[(i0 + s0) * x0_s0 + i3_3 * x0_s1]
                    v5_3 = x0[i0 * x0_s0 + i3_3 * x0_s1]
                # so that no load waits for what is computed
                cuda.syncwarp(mask)
                if there_i3_0:
                    v6_0 = v4_0 * v5_0
                    a7 = a7 + f8(v6_0)
                if there_i3_1:
                    v6_1 = v4_1 * v5_1
                    a7 = a7 + f8(v6_1)
                if there_i3_2:
                    v6_2 = v4_2 * v5_2
                    a7 = a7 + f8(v6_2)
                if there_i3_3:
                    v6_3 = v4_3 * v5_3
                    a7 = a7 + f8(v6_3)
    lanes = lanes_i9
    lane = thread % lanes
    mask = u4((1 << lanes) - 1 << thread % 32 - lane)
    split = 0
    while 4 * lanes << split < n1:
        split = split + 1
    for turn in range(first // lanes, n0 << split, step // lanes):
        i9 = turn >> split
        base = (turn - (i9 << split)) * (4 * lanes)
        if base < n1:
            v12 = (i9 >= 0) & (i9 < n2)
            v15 = (i9 - s0 >= 0) & (i9 - s0 < n2)
            done = False
            if base + 4 * lanes <= n1:
                i10_0 = base + lane
                v11_0 = x0[(i9 + s0) * x0_s0 + i10_0 * x0_s1] if (i9 >= 0) & (i9 < n2) else f8(0)
                v14_0 = x0[(i9 - s0) * x0_s0 + i10_0 * x0_s1] if (i9 - s0 >= 0) & (i9 - s0 < n2) else f8(0)
                i10_1 = base + lane + 1 * lanes
                v11_1 = x0[(i9 + s0) * x0_s0 + i10_1 * x0_s1] if (i9 >= 0) & (i9 < n2) else f8(0)
                v14_1 = x0[(i9 - s0) * x0_s0 + i10_1 * x0_s1] if (i9 - s0 >= 0) & (i9 - s0 < n2) else f8(0)
                i10_2 = base + lane + 2 * lanes
                v11_2 = x0[(i9 + s0) * x0_s0 + i10_2 * x0_s1] if (i9 >= 0) & (i9 < n2) else f8(0)
                v14_2 = x0[(i9 - s0) * x0_s0 + i10_2 * x0_s1] if (i9 - s0 >= 0) & (i9 - s0 < n2) else f8(0)
                i10_3 = base + lane + 3 * lanes
                v11_3 = x0[(i9 + s0) * x0_s0 + i10_3 * x0_s1] if (i9 >= 0) & (i9 < n2) else f8(0)
                v14_3 = x0[(i9 - s0) * x0_s0 + i10_3 * x0_s1] if (i9 - s0 >= 0) & (i9 - s0 < n2) else f8(0)
                # so that no load waits for what is computed
                cuda.syncwarp(mask)
                v13_0 = cuda.selp(v12, v11_0, f8(0.0))
                v16_0 = cuda.selp(v15, v14_0, f8(0.0))
                v17_0 = v13_0 + v16_0
                o1[i9 * n1 + i10_0] = v17_0
                v13_1 = cuda.selp(v12, v11_1, f8(0.0))
                v16_1 = cuda.selp(v15, v14_1, f8(0.0))
                v17_1 = v13_1 + v16_1
                o1[i9 * n1 + i10_1] = v17_1
                v13_2 = cuda.selp(v12, v11_2, f8(0.0))
                v16_2 = cuda.selp(v15, v14_2, f8(0.0))
                v17_2 = v13_2 + v16_2
                o1[i9 * n1 + i10_2] = v17_2
                v13_3 = cuda.selp(v12, v11_3, f8(0.0))
                v16_3 = cuda.selp(v15, v14_3, f8(0.0))
                v17_3 = v13_3 + v16_3
                o1[i9 * n1 + i10_3] = v17_3
                done = True
            if not done:
                there_i10_0 = base + lane < n1
                i10_0 = base + lane
                v11_0 = f8(0)
                v14_0 = f8(0)
                if there_i10_0:
                    v11_0 = x0[(i9 + s0) * x0_s0 + i10_0 * x0_s1] if (i9 >= 0) & (i9 < n2) else f8(0)
                    v14_0 = x0[(i9 - s0) * x0_s0 + i10_0 * x0_s1] if (i9 - s0 >= 0) & (i9 - s0 < n2) else f8(0)
                there_i10_1 = base + lane + 1 * lanes < n1
                i10_1 = base + lane + 1 * lanes
                v11_1 = f8(0)
                v14_1 = f8(0)
                if there_i10_1:
                    v11_1 = x0[(i9 + s0) * x0_s0 + i10_1 * x0_s1] if (i9 >= 0) & (i9 < n2) else f8(0)
                    v14_1 = x0[(i9 - s0) * x0_s0 + i10_1 * x0_s1] if (i9 - s0 >= 0) & (i9 - s0 < n2) else f8(0)
                there_i10_2 = base + lane + 2 * lanes < n1
                i10_2 = base + lane + 2 * lanes
                v11_2 = f8(0)
                v14_2 = f8(0)
                if there_i10_2:
                    v11_2 = x0[(i9 + s0) * x0_s0 + i10_2 * x0_s1] if (i9 >= 0) & (i9 < n2) else f8(0)
                    v14_2 = x0[(i9 - s0) * x0_s0 + i10_2 * x0_s1] if (i9 - s0 >= 0) & (i9 - s0 < n2) else f8(0)
                there_i10_3 = base + lane + 3 * lanes < n1
                i10_3 = base + lane + 3 * lanes
                v11_3 = f8(0)
                v14_3 = f8(0)
                if there_i10_3:
                    v11_3 = x0[(i9 + s0) * x0_s0 + i10_3 * x0_s1] if (i9 >= 0) & (i9 < n2) else f8(0)
                    v14_3 = x0[(i9 - s0) * x0_s0 + i10_3 * x0_s1] if (i9 - s0 >= 0) & (i9 - s0 < n2) else f8(0)
                # so that no load waits for what is computed
                cuda.syncwarp(mask)
                if there_i10_0:
                    v13_0 = cuda.selp(v12, v11_0, f8(0.0))
                    v16_0 = cuda.selp(v15, v14_0, f8(0.0))
                    v17_0 = v13_0 + v16_0
                    o1[i9 * n1 + i10_0] = v17_0
                if there_i10_1:
                    v13_1 = cuda.selp(v12, v11_1, f8(0.0))
                    v16_1 = cuda.selp(v15, v14_1, f8(0.0))
                    v17_1 = v13_1 + v16_1
                    o1[i9 * n1 + i10_1] = v17_1
                if there_i10_2:
                    v13_2 = cuda.selp(v12, v11_2, f8(0.0))
                    v16_2 = cuda.selp(v15, v14_2, f8(0.0))
                    v17_2 = v13_2 + v16_2
                    o1[i9 * n1 + i10_2] = v17_2
                if there_i10_3:
                    v13_3 = cuda.selp(v12, v11_3, f8(0.0))
                    v16_3 = cuda.selp(v15, v14_3, f8(0.0))
                    v17_3 = v13_3 + v16_3
                    o1[i9 * n1 + i10_3] = v17_3
    hop = 16
    while hop > 0:
        found_a7 = cuda.shfl_xor_sync(u4(4294967295), a7, hop)
        a7 = a7 + found_a7
        hop = hop // 2
    if thread % 32 == 0:
        shared[0 + thread // 32] = a7
    cuda.syncthreads()
    if thread == 0:
        a7 = shared[0]
        for other in range(1, 8):
            found_a7 = shared[0 + other]
            a7 = a7 + found_a7
        partials[0 * blocks + block] = a7
    cuda.syncthreads()
    last = cuda.shared.array(1, i4)
    if thread == 0:
        cuda.threadfence()
        last[0] = 1 if cuda.atomic.add(arrivals, 0, 1) == blocks - 1 else 0
    cuda.syncthreads()
    if last[0] == 1:
        cuda.threadfence()
        a7 = f8(0)
        for other in range(thread, blocks, 256):
            found_a7 = partials[0 * blocks + other]
            a7 = a7 + found_a7
        hop = 16
        while hop > 0:
            found_a7 = cuda.shfl_xor_sync(u4(4294967295), a7, hop)
            a7 = a7 + found_a7
            hop = hop // 2
        if thread % 32 == 0:
            shared[0 + thread // 32] = a7
        cuda.syncthreads()
        a7 = shared[0]
        for other in range(1, 8):
            found_a7 = shared[0 + other]
            a7 = a7 + found_a7
        cuda.syncthreads()
        if thread == 0:
            arrivals[0] = 0
            arrivals[1] = 0
            arrivals[2] = 0
            arrivals[3] = 0
            arrivals[4] = 0
            v8 = f8(a7)
            o0[0] = v8
