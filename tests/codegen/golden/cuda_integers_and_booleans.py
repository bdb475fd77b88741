from vecdist.runtime.cuda.language import *


def kernel(x0, x1, x2, x3, x4, o0, o1, n0, partials, arrivals):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    shared = cuda.shared.array(8, f8)
    v2 = x1
    v4 = x2
    v6 = x3
    v10 = x4
    a8 = i8(0)
    end_i0 = n0
    if not aligned(x0):
        end_i0 = 0
    f_v1_0 = i8(0)
    f_v1_1 = i8(0)
    f_v1_2 = i8(0)
    f_v1_3 = i8(0)
    ahead = block * (4 * 256)
    if ahead + 4 * 256 <= end_i0:
        f_v1_0, f_v1_1 = load_2(x0, ahead + 2 * thread)
        f_v1_2, f_v1_3 = load_2(x0, ahead + 2 * thread + 2 * 256)
    for base in range(block * (4 * 256), n0, blocks * (4 * 256)):
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
            ahead = base + blocks * (4 * 256)
            if ahead + 4 * 256 <= end_i0:
                f_v1_0, f_v1_1 = load_2(x0, ahead + 2 * thread)
                f_v1_2, f_v1_3 = load_2(x0, ahead + 2 * thread + 2 * 256)
            v3_0 = v1_0 < v2
            v5_0 = i8(u8(i8(v1_0)) * u8(i8(v4)))
            v7_0 = cuda.selp(v3_0, v5_0, v6)
            v11_0 = v1_0 < v10
            o1[i0_0] = v11_0
            v3_1 = v1_1 < v2
            v5_1 = i8(u8(i8(v1_1)) * u8(i8(v4)))
            v7_1 = cuda.selp(v3_1, v5_1, v6)
            v11_1 = v1_1 < v10
            o1[i0_1] = v11_1
            v3_2 = v1_2 < v2
            v5_2 = i8(u8(i8(v1_2)) * u8(i8(v4)))
            v7_2 = cuda.selp(v3_2, v5_2, v6)
            v11_2 = v1_2 < v10
            o1[i0_2] = v11_2
            v3_3 = v1_3 < v2
            v5_3 = i8(u8(i8(v1_3)) * u8(i8(v4)))
            v7_3 = cuda.selp(v3_3, v5_3, v6)
            v11_3 = v1_3 < v10
            o1[i0_3] = v11_3
            a8 = a8 + i8(v7_0 + v7_1 + (v7_2 + v7_3))
            done = True
        if not done:
            for copy in range(4):
                i0 = base + 2 * (thread + copy // 2 * 256) + copy % 2
                if base + 4 * 256 > end_i0:
                    i0 = base + thread + copy * 256
                if i0 < n0:
                    v1 = x0[i0]
                    v3 = v1 < v2
                    v5 = i8(u8(i8(v1)) * u8(i8(v4)))
                    v7 = cuda.selp(v3, v5, v6)
                    a8 = a8 + i8(v7)
                    v11 = v1 < v10
                    o1[i0] = v11
    hop = 16
    while hop > 0:
        found_a8 = i8(as_i8(cuda.shfl_xor_sync(u4(4294967295), as_f8(i8(a8)), hop)))
        a8 = a8 + found_a8
        hop = hop // 2
    if thread % 32 == 0:
        shared[0 + thread // 32] = as_f8(i8(a8))
    cuda.syncthreads()
    if thread == 0:
        a8 = i8(as_i8(shared[0]))
        for other in range(1, 8):
            found_a8 = i8(as_i8(shared[0 + other]))
            a8 = a8 + found_a8
        partials[0 * blocks + block] = as_f8(i8(a8))
    cuda.syncthreads()
    last = cuda.shared.array(1, i4)
    if thread == 0:
        cuda.threadfence()
        last[0] = 1 if cuda.atomic.add(arrivals, 0, 1) == blocks - 1 else 0
    cuda.syncthreads()
    if last[0] == 1:
        cuda.threadfence()
        a8 = i8(0)
        for other in range(thread, blocks, 256):
            found_a8 = i8(as_i8(partials[0 * blocks + other]))
            a8 = a8 + found_a8
        hop = 16
        while hop > 0:
            found_a8 = i8(as_i8(cuda.shfl_xor_sync(u4(4294967295), as_f8(i8(a8)), hop)))
            a8 = a8 + found_a8
            hop = hop // 2
        if thread % 32 == 0:
            shared[0 + thread // 32] = as_f8(i8(a8))
        cuda.syncthreads()
        a8 = i8(as_i8(shared[0]))
        for other in range(1, 8):
            found_a8 = i8(as_i8(shared[0 + other]))
            a8 = a8 + found_a8
        cuda.syncthreads()
        if thread == 0:
            arrivals[0] = 0
            arrivals[1] = 0
            arrivals[2] = 0
            arrivals[3] = 0
            arrivals[4] = 0
            v9 = i8(a8)
            o0[0] = v9
