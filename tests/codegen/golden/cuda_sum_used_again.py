from vecdist.runtime.cuda.language import *


def kernel(x0, o0, n0, partials, arrivals):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    shared = cuda.shared.array(8, f8)
    v7 = float(n0)
    a5 = f8(0)
    end_i3 = n0
    if not aligned(x0):
        end_i3 = 0
    f_v4_0 = f8(0)
    f_v4_1 = f8(0)
    f_v4_2 = f8(0)
    f_v4_3 = f8(0)
    ahead = block * (4 * 256)
    if ahead + 4 * 256 <= end_i3:
        f_v4_0, f_v4_1 = load_2(x0, ahead + 2 * thread)
        f_v4_2, f_v4_3 = load_2(x0, ahead + 2 * thread + 2 * 256)
    for base in range(block * (4 * 256), n0, blocks * (4 * 256)):
        done = False
        if base + 4 * 256 <= end_i3:
            i3_0 = base + 2 * thread
            v4_0 = f_v4_0
            i3_1 = base + 2 * thread + 1
            v4_1 = f_v4_1
            i3_2 = base + 2 * thread + 2 * 256
            v4_2 = f_v4_2
            i3_3 = base + 2 * thread + 2 * 256 + 1
            v4_3 = f_v4_3
            ahead = base + blocks * (4 * 256)
            if ahead + 4 * 256 <= end_i3:
                f_v4_0, f_v4_1 = load_2(x0, ahead + 2 * thread)
                f_v4_2, f_v4_3 = load_2(x0, ahead + 2 * thread + 2 * 256)
            a5 = a5 + f8(v4_0 + v4_1 + (v4_2 + v4_3))
            done = True
        if not done:
            for copy in range(4):
                i3 = base + 2 * (thread + copy // 2 * 256) + copy % 2
                if base + 4 * 256 > end_i3:
                    i3 = base + thread + copy * 256
                if i3 < n0:
                    v4 = x0[i3]
                    a5 = a5 + f8(v4)
    hop = 16
    while hop > 0:
        found_a5 = cuda.shfl_xor_sync(u4(4294967295), a5, hop)
        a5 = a5 + found_a5
        hop = hop // 2
    if thread % 32 == 0:
        shared[0 + thread // 32] = a5
    cuda.syncthreads()
    if thread == 0:
        a5 = shared[0]
        for other in range(1, 8):
            found_a5 = shared[0 + other]
            a5 = a5 + found_a5
        partials[0 * blocks + block] = a5
    cuda.syncthreads()
    cuda.syncthreads()
    if thread == 0:
        cuda.threadfence()
        cuda.atomic.add(arrivals, 1, 1)
        while cuda.atomic.add(arrivals, 1, 0) < blocks:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    a5 = f8(0)
    for other in range(thread, blocks, 256):
        found_a5 = partials[0 * blocks + other]
        a5 = a5 + found_a5
    hop = 16
    while hop > 0:
        found_a5 = cuda.shfl_xor_sync(u4(4294967295), a5, hop)
        a5 = a5 + found_a5
        hop = hop // 2
    if thread % 32 == 0:
        shared[0 + thread // 32] = a5
    cuda.syncthreads()
    a5 = shared[0]
    for other in range(1, 8):
        found_a5 = shared[0 + other]
        a5 = a5 + found_a5
    cuda.syncthreads()
    v6 = f8(a5)
    v8 = v6 / v7
    end_i0 = n0
    if not (aligned(o0) and aligned(x0)):
        end_i0 = 0
    top = (n0 - 1) // (4 * 256) * (4 * 256)
    f_v1_0 = f8(0)
    f_v1_1 = f8(0)
    f_v1_2 = f8(0)
    f_v1_3 = f8(0)
    ahead = top - 4 * 256 - block * (4 * 256) if block * (4 * 256) < top else top
    if ahead + 4 * 256 <= end_i0 and block * (4 * 256) < n0:
        f_v1_0, f_v1_1 = load_2(x0, ahead + 2 * thread)
        f_v1_2, f_v1_3 = load_2(x0, ahead + 2 * thread + 2 * 256)
    for behind in range(block * (4 * 256), n0, blocks * (4 * 256)):
        base = top - 4 * 256 - behind if behind < top else top
        done = False
        if base + 4 * 256 <= end_i0:
            i0_0 = base + 2 * thread
            v1_0 = f_v1_0
            i0_1 = base + 2 * thread + 1
            v1_1 = f_v1_1
            i0_2 = base + 2 * thread + 2 * 256
            v1_2 = f_v1_2
            i0_3 = base + 2 * thread + 2 * 256 + 1
            v1_3 = f_v1_3
            ahead = top - 4 * 256 - (behind + blocks * (4 * 256)) if behind + blocks * (4 * 256) < top else top
            if ahead + 4 * 256 <= end_i0 and behind + blocks * (4 * 256) < n0:
                f_v1_0, f_v1_1 = load_2(x0, ahead + 2 * thread)
                f_v1_2, f_v1_3 = load_2(x0, ahead + 2 * thread + 2 * 256)
            v9_0 = v1_0 - v8
            v9_1 = v1_1 - v8
            store_2(o0, base + 2 * thread, v9_0, v9_1)
            v9_2 = v1_2 - v8
            v9_3 = v1_3 - v8
            store_2(o0, base + 2 * thread + 2 * 256, v9_2, v9_3)
            done = True
        if not done:
            for copy in range(4):
                i0 = base + 2 * (thread + copy // 2 * 256) + copy % 2
                if base + 4 * 256 > end_i0:
                    i0 = base + thread + copy * 256
                if i0 < n0:
                    v1 = x0[i0]
                    v9 = v1 - v8
                    o0[i0] = v9
    last = cuda.shared.array(1, i4)
    cuda.syncthreads()
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
            arrivals[3] = 0
            arrivals[4] = 0
