from vecdist.runtime.cuda.language import *


def kernel(x0, x1, x2, o0, o1, o2, flag, n0, partials, arrivals):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    shared = cuda.shared.array(24, f8)
    v2 = x0[0]
    v4 = x1[0]
    v5 = 1.0 / v4
    v9 = f8(float('-inf')) < v2
    v10 = v2 < f8(float('inf'))
    v11 = v9 & v10
    v12 = 0.0 < v4
    v13 = v4 < f8(float('inf'))
    v14 = v12 & v13
    v15 = v11 & v14
    v16 = v4 < 2.2250738585072014e-308
    v17 = v4 * 1.8014398509481984e+16
    v18 = cuda.selp(v16, v17, v4)
    v19 = bits_f8(v18)
    v20 = i8(u8(i8(v19)) + u8(i8(i8(2638147582215219))))
    v21 = i8(v20 >> i8(52))
    v22 = i8(v21 & i8(2047))
    v23 = i8(v22 | i8(4841369599423283200))
    v24 = from_bits_i8(v23)
    v25 = cuda.selp(v16, 54.0, 0.0)
    v26 = 4503599627371519.0 + v25
    v27 = v24 - v26
    v28 = v27 * 0.6931471805598903
    v29 = v27 * 5.497923018708371e-14
    v30 = i8(v20 & i8(4503599627370495))
    v31 = i8(u8(i8(v30)) + u8(i8(i8(4604544271217802189))))
    v32 = from_bits_i8(v31)
    v33 = v32 - 1.0
    v34 = v33 * v33
    v35 = v34 * -0.028325053078952615
    v36 = v35 + -0.06783423870437773
    v37 = v34 * v36
    v38 = v37 + -0.06042069540535888
    v39 = v34 * v38
    v40 = v39 + -0.07160165339755582
    v41 = v34 * v40
    v42 = v41 + -0.0833255508027252
    v43 = v34 * v42
    v44 = v43 + -0.10000018337175177
    v45 = v34 * v44
    v46 = v45 + -0.12499999814644483
    v47 = v34 * v46
    v48 = v47 + -0.1666666666673436
    v49 = v34 * v48
    v50 = v49 + -0.25000000000006295
    v51 = v34 * v50
    v52 = v51 + -0.5
    v53 = v34 * 0.06324884243460607
    v54 = v53 + 0.059722176253023285
    v55 = v34 * v54
    v56 = v55 + 0.06622106227654306
    v57 = v34 * v56
    v58 = v57 + 0.07697634689220494
    v59 = v34 * v58
    v60 = v59 + 0.09090589392481026
    v61 = v34 * v60
    v62 = v61 + 0.11111121741488153
    v63 = v34 * v62
    v64 = v63 + 0.14285714094167687
    v65 = v34 * v64
    v66 = v65 + 0.20000000001652302
    v67 = v34 * v66
    v68 = v67 + 0.33333333333328524
    v69 = v33 * v68
    v70 = v52 + v69
    v71 = v34 * v70
    v72 = v33 + v71
    v73 = v29 + v72
    v74 = v28 + v73
    v75 = cuda.selp(v13, v74, v4)
    v76 = v4 == 0.0
    v77 = cuda.selp(v76, f8(float('-inf')), f8(float('nan')))
    v78 = cuda.selp(v12, v75, v77)
    v79 = v78 + 0.9189385332046727
    v80 = cuda.selp(v15, v79, f8(float('nan')))
    a82 = f8(0)
    a84 = f8(0)
    a92 = f8(0)
    end_i0 = n0
    if not aligned(x2):
        end_i0 = 0
    f_v1_0 = f8(0)
    f_v1_1 = f8(0)
    f_v1_2 = f8(0)
    f_v1_3 = f8(0)
    ahead = block * (4 * 256)
    if ahead + 4 * 256 <= end_i0:
        f_v1_0, f_v1_1 = load_2(x2, ahead + 2 * thread)
        f_v1_2, f_v1_3 = load_2(x2, ahead + 2 * thread + 2 * 256)
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
                f_v1_0, f_v1_1 = load_2(x2, ahead + 2 * thread)
                f_v1_2, f_v1_3 = load_2(x2, ahead + 2 * thread + 2 * 256)
            v3_0 = v1_0 - v2
            v6_0 = v3_0 * v5
            v7_0 = v6_0 * v6_0
            v8_0 = v7_0 * -0.5
            v81_0 = v8_0 - v80
            v89_0 = v6_0 * v5
            v90_0 = v89_0 * v6_0
            v91_0 = v90_0 - v5
            v3_1 = v1_1 - v2
            v6_1 = v3_1 * v5
            v7_1 = v6_1 * v6_1
            v8_1 = v7_1 * -0.5
            v81_1 = v8_1 - v80
            v89_1 = v6_1 * v5
            v90_1 = v89_1 * v6_1
            v91_1 = v90_1 - v5
            v3_2 = v1_2 - v2
            v6_2 = v3_2 * v5
            v7_2 = v6_2 * v6_2
            v8_2 = v7_2 * -0.5
            v81_2 = v8_2 - v80
            v89_2 = v6_2 * v5
            v90_2 = v89_2 * v6_2
            v91_2 = v90_2 - v5
            v3_3 = v1_3 - v2
            v6_3 = v3_3 * v5
            v7_3 = v6_3 * v6_3
            v8_3 = v7_3 * -0.5
            v81_3 = v8_3 - v80
            v89_3 = v6_3 * v5
            v90_3 = v89_3 * v6_3
            v91_3 = v90_3 - v5
            a82 = a82 + f8(v81_0 + v81_1 + (v81_2 + v81_3))
            a84 = a84 + f8(v3_0 + v3_1 + (v3_2 + v3_3))
            a92 = a92 + f8(v91_0 + v91_1 + (v91_2 + v91_3))
            done = True
        if not done:
            for copy in range(4):
                i0 = base + 2 * (thread + copy // 2 * 256) + copy % 2
                if base + 4 * 256 > end_i0:
                    i0 = base + thread + copy * 256
                if i0 < n0:
                    v1 = x2[i0]
                    v3 = v1 - v2
                    v6 = v3 * v5
                    v7 = v6 * v6
                    v8 = v7 * -0.5
                    v81 = v8 - v80
                    a82 = a82 + f8(v81)
                    a84 = a84 + f8(v3)
                    v89 = v6 * v5
                    v90 = v89 * v6
                    v91 = v90 - v5
                    a92 = a92 + f8(v91)
    hop = 16
    while hop > 0:
        found_a82 = cuda.shfl_xor_sync(u4(4294967295), a82, hop)
        found_a84 = cuda.shfl_xor_sync(u4(4294967295), a84, hop)
        found_a92 = cuda.shfl_xor_sync(u4(4294967295), a92, hop)
        a82 = a82 + found_a82
        a84 = a84 + found_a84
        a92 = a92 + found_a92
        hop = hop // 2
    if thread % 32 == 0:
        shared[0 + thread // 32] = a82
    if thread % 32 == 0:
        shared[8 + thread // 32] = a84
    if thread % 32 == 0:
        shared[16 + thread // 32] = a92
    cuda.syncthreads()
    if 3 > thread:
        whole = shared[thread * 8]
        for other in range(1, 8):
            whole = whole + shared[thread * 8 + other]
        partials[(0 + thread) * blocks + block] = whole
    cuda.syncthreads()
    last = cuda.shared.array(1, i4)
    if thread == 0:
        cuda.threadfence()
        last[0] = 1 if cuda.atomic.add(arrivals, 0, 1) == blocks - 1 else 0
    cuda.syncthreads()
    if last[0] == 1:
        cuda.threadfence()
        a82 = f8(0)
        a84 = f8(0)
        a92 = f8(0)
        for other in range(thread, blocks, 256):
            found_a82 = partials[0 * blocks + other]
            found_a84 = partials[1 * blocks + other]
            found_a92 = partials[2 * blocks + other]
            a82 = a82 + found_a82
            a84 = a84 + found_a84
            a92 = a92 + found_a92
        hop = 16
        while hop > 0:
            found_a82 = cuda.shfl_xor_sync(u4(4294967295), a82, hop)
            found_a84 = cuda.shfl_xor_sync(u4(4294967295), a84, hop)
            found_a92 = cuda.shfl_xor_sync(u4(4294967295), a92, hop)
            a82 = a82 + found_a82
            a84 = a84 + found_a84
            a92 = a92 + found_a92
            hop = hop // 2
        if thread % 32 == 0:
            shared[0 + thread // 32] = a82
        if thread % 32 == 0:
            shared[8 + thread // 32] = a84
        if thread % 32 == 0:
            shared[16 + thread // 32] = a92
        cuda.syncthreads()
        if 3 > thread:
            whole = shared[thread * 8]
            for other in range(1, 8):
                whole = whole + shared[thread * 8 + other]
            shared[thread * 8] = whole
        cuda.syncthreads()
        a82 = shared[0]
        a84 = shared[8]
        a92 = shared[16]
        cuda.syncthreads()
        if thread == 0:
            arrivals[0] = 0
            arrivals[1] = 0
            arrivals[2] = 0
            arrivals[3] = 0
            arrivals[4] = 0
            v95 = not v11
            if v95:
                flag[0] = 1
            v96 = not v14
            if v96:
                flag[0] = 1
            v83 = f8(a82)
            o0[0] = v83
            v85 = f8(a84)
            v86 = v5 * v85
            v87 = v5 * v86
            v88 = cuda.selp(v15, v87, 0.0)
            o1[0] = v88
            v93 = f8(a92)
            v94 = cuda.selp(v15, v93, 0.0)
            o2[0] = v94
