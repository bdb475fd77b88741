from vecdist.runtime.cuda.language import *


def kernel(x0, x1, o0, n0):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    v2 = x1
    end_i0 = n0
    if not (aligned(o0) and aligned(x0)):
        end_i0 = 0
    f_v1_0 = f4(0)
    f_v1_1 = f4(0)
    f_v1_2 = f4(0)
    f_v1_3 = f4(0)
    f_v1_4 = f4(0)
    f_v1_5 = f4(0)
    f_v1_6 = f4(0)
    f_v1_7 = f4(0)
    ahead = block * (8 * 256)
    if ahead + 8 * 256 <= end_i0:
        f_v1_0, f_v1_1, f_v1_2, f_v1_3 = load_4(x0, ahead + 4 * thread)
        f_v1_4, f_v1_5, f_v1_6, f_v1_7 = load_4(x0, ahead + 4 * thread + 4 * 256)
    for base in range(block * (8 * 256), n0, blocks * (8 * 256)):
        done = False
        if base + 8 * 256 <= end_i0:
            i0_0 = base + 4 * thread
            v1_0 = f_v1_0
            i0_1 = base + 4 * thread + 1
            v1_1 = f_v1_1
            i0_2 = base + 4 * thread + 2
            v1_2 = f_v1_2
            i0_3 = base + 4 * thread + 3
            v1_3 = f_v1_3
            i0_4 = base + 4 * thread + 4 * 256
            v1_4 = f_v1_4
            i0_5 = base + 4 * thread + 4 * 256 + 1
            v1_5 = f_v1_5
            i0_6 = base + 4 * thread + 4 * 256 + 2
            v1_6 = f_v1_6
            i0_7 = base + 4 * thread + 4 * 256 + 3
            v1_7 = f_v1_7
            ahead = base + blocks * (8 * 256)
            if ahead + 8 * 256 <= end_i0:
                f_v1_0, f_v1_1, f_v1_2, f_v1_3 = load_4(x0, ahead + 4 * thread)
                f_v1_4, f_v1_5, f_v1_6, f_v1_7 = load_4(x0, ahead + 4 * thread + 4 * 256)
            v3_0 = v1_0 * v2
            v4_0 = sqrt_f4(v1_0)
            v5_0 = v3_0 + v4_0
            v3_1 = v1_1 * v2
            v4_1 = sqrt_f4(v1_1)
            v5_1 = v3_1 + v4_1
            v3_2 = v1_2 * v2
            v4_2 = sqrt_f4(v1_2)
            v5_2 = v3_2 + v4_2
            v3_3 = v1_3 * v2
            v4_3 = sqrt_f4(v1_3)
            v5_3 = v3_3 + v4_3
            store_4(o0, base + 4 * thread, v5_0, v5_1, v5_2, v5_3)
            v3_4 = v1_4 * v2
            v4_4 = sqrt_f4(v1_4)
            v5_4 = v3_4 + v4_4
            v3_5 = v1_5 * v2
            v4_5 = sqrt_f4(v1_5)
            v5_5 = v3_5 + v4_5
            v3_6 = v1_6 * v2
            v4_6 = sqrt_f4(v1_6)
            v5_6 = v3_6 + v4_6
            v3_7 = v1_7 * v2
            v4_7 = sqrt_f4(v1_7)
            v5_7 = v3_7 + v4_7
            store_4(o0, base + 4 * thread + 4 * 256, v5_4, v5_5, v5_6, v5_7)
            done = True
        if not done:
            for copy in range(8):
                i0 = base + 4 * (thread + copy // 4 * 256) + copy % 4
                if base + 8 * 256 > end_i0:
                    i0 = base + thread + copy * 256
                if i0 < n0:
                    v1 = x0[i0]
                    v3 = v1 * v2
                    v4 = sqrt_f4(v1)
                    v5 = v3 + v4
                    o0[i0] = v5
