from vecdist.runtime.cuda.language import *


def kernel(x0, x1, o0, n0, n1, lanes_i0):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    lanes = lanes_i0
    lane = thread % lanes
    mask = u4((1 << min(lanes, 32)) - 1 << thread % 32 - lane % 32)
    of_row = cuda.shared.array(8, f8)
    for i0 in range(first // lanes, n0, step // lanes):
        a7 = f8(0)
        for base in range(0, n1, 8 * lanes):
            done = False
            if base + 8 * lanes <= n1:
                i3_0 = base + lane
                v4_0 = x0[i0 * n1 + i3_0]
                v5_0 = x1[i3_0]
                i3_1 = base + lane + 1 * lanes
                v4_1 = x0[i0 * n1 + i3_1]
                v5_1 = x1[i3_1]
                i3_2 = base + lane + 2 * lanes
                v4_2 = x0[i0 * n1 + i3_2]
                v5_2 = x1[i3_2]
                i3_3 = base + lane + 3 * lanes
                v4_3 = x0[i0 * n1 + i3_3]
                v5_3 = x1[i3_3]
                i3_4 = base + lane + 4 * lanes
                v4_4 = x0[i0 * n1 + i3_4]
                v5_4 = x1[i3_4]
                i3_5 = base + lane + 5 * lanes
                v4_5 = x0[i0 * n1 + i3_5]
                v5_5 = x1[i3_5]
                i3_6 = base + lane + 6 * lanes
                v4_6 = x0[i0 * n1 + i3_6]
                v5_6 = x1[i3_6]
                i3_7 = base + lane + 7 * lanes
                v4_7 = x0[i0 * n1 + i3_7]
                v5_7 = x1[i3_7]
                # so that no load waits for what is computed
                cuda.syncwarp(mask)
                v6_0 = v4_0 * v5_0
                v6_1 = v4_1 * v5_1
                v6_2 = v4_2 * v5_2
                v6_3 = v4_3 * v5_3
                v6_4 = v4_4 * v5_4
                v6_5 = v4_5 * v5_5
                v6_6 = v4_6 * v5_6
                v6_7 = v4_7 * v5_7
                a7 = a7 + f8(v6_0 + v6_1 + (v6_2 + v6_3) + (v6_4 + v6_5 + (v6_6 + v6_7)))
                done = True
            if not done:
                there_i3_0 = base + lane < n1
                i3_0 = base + lane
                v4_0 = f8(0)
                v5_0 = f8(0)
                if there_i3_0:
                    v4_0 = x0[i0 * n1 + i3_0]
                    v5_0 = x1[i3_0]
                there_i3_1 = base + lane + 1 * lanes < n1
                i3_1 = base + lane + 1 * lanes
                v4_1 = f8(0)
                v5_1 = f8(0)
                if there_i3_1:
                    v4_1 = x0[i0 * n1 + i3_1]
                    v5_1 = x1[i3_1]
                there_i3_2 = base + lane + 2 * lanes < n1
                i3_2 = base + lane + 2 * lanes
                v4_2 = f8(0)
                v5_2 = f8(0)
                if there_i3_2:
                    v4_2 = x0[i0 * n1 + i3_2]
                    v5_2 = x1[i3_2]
                there_i3_3 = base + lane + 3 * lanes < n1
                i3_3 = base + lane + 3 * lanes
                v4_3 = f8(0)
                v5_3 = f8(0)
                if there_i3_3:
                    v4_3 = x0[i0 * n1 + i3_3]
                    v5_3 = x1[i3_3]
                there_i3_4 = base + lane + 4 * lanes < n1
                i3_4 = base + lane + 4 * lanes
                v4_4 = f8(0)
                v5_4 = f8(0)
                if there_i3_4:
                    v4_4 = x0[i0 * n1 + i3_4]
                    v5_4 = x1[i3_4]
                there_i3_5 = base + lane + 5 * lanes < n1
                i3_5 = base + lane + 5 * lanes
                v4_5 = f8(0)
                v5_5 = f8(0)
                if there_i3_5:
                    v4_5 = x0[i0 * n1 + i3_5]
                    v5_5 = x1[i3_5]
                there_i3_6 = base + lane + 6 * lanes < n1
                i3_6 = base + lane + 6 * lanes
                v4_6 = f8(0)
                v5_6 = f8(0)
                if there_i3_6:
                    v4_6 = x0[i0 * n1 + i3_6]
                    v5_6 = x1[i3_6]
                there_i3_7 = base + lane + 7 * lanes < n1
                i3_7 = base + lane + 7 * lanes
                v4_7 = f8(0)
                v5_7 = f8(0)
                if there_i3_7:
                    v4_7 = x0[i0 * n1 + i3_7]
                    v5_7 = x1[i3_7]
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
                if there_i3_4:
                    v6_4 = v4_4 * v5_4
                    a7 = a7 + f8(v6_4)
                if there_i3_5:
                    v6_5 = v4_5 * v5_5
                    a7 = a7 + f8(v6_5)
                if there_i3_6:
                    v6_6 = v4_6 * v5_6
                    a7 = a7 + f8(v6_6)
                if there_i3_7:
                    v6_7 = v4_7 * v5_7
                    a7 = a7 + f8(v6_7)
        hop = min(lanes, 32) // 2
        while hop > 0:
            found_a7 = cuda.shfl_xor_sync(mask, a7, hop)
            a7 = a7 + found_a7
            hop = hop // 2
        if lanes > 32:
            if thread % 32 == 0:
                of_row[thread // 32] = a7
            cuda.syncthreads()
            a7 = of_row[0]
            for other in range(1, 8):
                found_a7 = of_row[0 + other]
                a7 = a7 + found_a7
            cuda.syncthreads()
        v8 = f8(a7)
        if lane == 0:
            o0[i0] = v8
