from vecdist.backends.cuda_language import *


def kernel(x0, x1, x2, o0, o1, o2, flag, n0, partials, sums, arrivals, lanes):
    lanes = 1
    shift = 0
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    shared = cuda.shared.array(768, f8)
    v0 = x0[0]
    v1 = (f8(float('-inf')) < v0)
    v2 = (v0 < f8(float('inf')))
    v3 = (v1 & v2)
    v4 = x1[0]
    v5 = (0.0 < v4)
    v6 = (v4 < f8(float('inf')))
    v7 = (v5 & v6)
    v8 = (v3 & v7)
    v12 = (1.0 / v4)
    v16 = (v4 < 2.2250738585072014e-308)
    v17 = (v4 * 1.8014398509481984e+16)
    v18 = cuda.selp(v16, v17, v4)
    v19 = bits_f8(v18)
    v20 = i8(v19 + i8(2638147582215219))
    v21 = i8(v20 >> i8(52))
    v22 = i8(v21 & i8(2047))
    v23 = i8(v22 | i8(4841369599423283200))
    v24 = from_bits_i8(v23)
    v25 = cuda.selp(v16, 54.0, 0.0)
    v26 = (4503599627371519.0 + v25)
    v27 = (v24 - v26)
    v28 = (v27 * 0.6931471805598903)
    v29 = (v27 * 5.497923018708371e-14)
    v30 = i8(v20 & i8(4503599627370495))
    v31 = i8(v30 + i8(4604544271217802189))
    v32 = from_bits_i8(v31)
    v33 = (v32 - 1.0)
    v34 = (v33 * v33)
    v35 = (v34 * -0.028325053078952615)
    v36 = (v35 + -0.06783423870437773)
    v37 = (v34 * v36)
    v38 = (v37 + -0.06042069540535888)
    v39 = (v34 * v38)
    v40 = (v39 + -0.07160165339755582)
    v41 = (v34 * v40)
    v42 = (v41 + -0.0833255508027252)
    v43 = (v34 * v42)
    v44 = (v43 + -0.10000018337175177)
    v45 = (v34 * v44)
    v46 = (v45 + -0.12499999814644483)
    v47 = (v34 * v46)
    v48 = (v47 + -0.1666666666673436)
    v49 = (v34 * v48)
    v50 = (v49 + -0.25000000000006295)
    v51 = (v34 * v50)
    v52 = (v51 + -0.5)
    v53 = (v34 * 0.06324884243460607)
    v54 = (v53 + 0.059722176253023285)
    v55 = (v34 * v54)
    v56 = (v55 + 0.06622106227654306)
    v57 = (v34 * v56)
    v58 = (v57 + 0.07697634689220494)
    v59 = (v34 * v58)
    v60 = (v59 + 0.09090589392481026)
    v61 = (v34 * v60)
    v62 = (v61 + 0.11111121741488153)
    v63 = (v34 * v62)
    v64 = (v63 + 0.14285714094167687)
    v65 = (v34 * v64)
    v66 = (v65 + 0.20000000001652302)
    v67 = (v34 * v66)
    v68 = (v67 + 0.33333333333328524)
    v69 = (v33 * v68)
    v70 = (v52 + v69)
    v71 = (v34 * v70)
    v72 = (v33 + v71)
    v73 = (v29 + v72)
    v74 = (v28 + v73)
    v75 = cuda.selp(v6, v74, v4)
    v76 = (v4 == 0.0)
    v77 = cuda.selp(v76, f8(float('-inf')), f8(float('nan')))
    v78 = cuda.selp(v5, v75, v77)
    v79 = (v78 + 0.9189385332046727)
    v83 = float(n0)
    v84 = (f8(float('nan')) * v83)
    v86 = (-v12)
    v94 = (v12 * v12)
    v95 = (-v94)
    v104 = (not v3)
    v105 = (not v7)
    a81 = f8(0)
    a87 = f8(0)
    a101 = f8(0)
    f_v10_0 = f8(0)
    f_v10_1 = f8(0)
    f_v10_2 = f8(0)
    f_v10_3 = f8(0)
    ahead = block * 1024
    if ahead + 1024 <= n0:
        f_v10_0 = x2[(ahead + thread + 0)]
        f_v10_1 = x2[(ahead + thread + 256)]
        f_v10_2 = x2[(ahead + thread + 512)]
        f_v10_3 = x2[(ahead + thread + 768)]
    for base in range(block * 1024, n0, blocks * 1024):
        done = False
        if base + 1024 <= n0:
            i9_0 = base + thread + 0
            v10_0 = f_v10_0
            i9_1 = base + thread + 256
            v10_1 = f_v10_1
            i9_2 = base + thread + 512
            v10_2 = f_v10_2
            i9_3 = base + thread + 768
            v10_3 = f_v10_3
            ahead = base + blocks * 1024
            if ahead + 1024 <= n0:
                f_v10_0 = x2[(ahead + thread + 0)]
                f_v10_1 = x2[(ahead + thread + 256)]
                f_v10_2 = x2[(ahead + thread + 512)]
                f_v10_3 = x2[(ahead + thread + 768)]
            v11_0 = (v10_0 - v0)
            v13_0 = (v11_0 * v12)
            v14_0 = (v13_0 * v13_0)
            v15_0 = (-0.5 * v14_0)
            v80_0 = (v15_0 - v79)
            v96_0 = (v95 * v11_0)
            v97_0 = (2.0 * v13_0)
            v98_0 = (v96_0 * v97_0)
            v99_0 = (v98_0 * -0.5)
            v100_0 = (v99_0 - v12)
            v11_1 = (v10_1 - v0)
            v13_1 = (v11_1 * v12)
            v14_1 = (v13_1 * v13_1)
            v15_1 = (-0.5 * v14_1)
            v80_1 = (v15_1 - v79)
            v96_1 = (v95 * v11_1)
            v97_1 = (2.0 * v13_1)
            v98_1 = (v96_1 * v97_1)
            v99_1 = (v98_1 * -0.5)
            v100_1 = (v99_1 - v12)
            v11_2 = (v10_2 - v0)
            v13_2 = (v11_2 * v12)
            v14_2 = (v13_2 * v13_2)
            v15_2 = (-0.5 * v14_2)
            v80_2 = (v15_2 - v79)
            v96_2 = (v95 * v11_2)
            v97_2 = (2.0 * v13_2)
            v98_2 = (v96_2 * v97_2)
            v99_2 = (v98_2 * -0.5)
            v100_2 = (v99_2 - v12)
            v11_3 = (v10_3 - v0)
            v13_3 = (v11_3 * v12)
            v14_3 = (v13_3 * v13_3)
            v15_3 = (-0.5 * v14_3)
            v80_3 = (v15_3 - v79)
            v96_3 = (v95 * v11_3)
            v97_3 = (2.0 * v13_3)
            v98_3 = (v96_3 * v97_3)
            v99_3 = (v98_3 * -0.5)
            v100_3 = (v99_3 - v12)
            a81 = a81 + f8(((v80_0 + v80_1) + (v80_2 + v80_3)))
            a87 = a87 + f8(((v11_0 + v11_1) + (v11_2 + v11_3)))
            a101 = a101 + f8(((v100_0 + v100_1) + (v100_2 + v100_3)))
            done = True
        if not done:
            for i9 in range(base + thread, min(base + 1024, n0), 256):
                v10 = x2[i9]
                v11 = (v10 - v0)
                v13 = (v11 * v12)
                v14 = (v13 * v13)
                v15 = (-0.5 * v14)
                v80 = (v15 - v79)
                a81 = a81 + f8(v80)
                a87 = a87 + f8(v11)
                v96 = (v95 * v11)
                v97 = (2.0 * v13)
                v98 = (v96 * v97)
                v99 = (v98 * -0.5)
                v100 = (v99 - v12)
                a101 = a101 + f8(v100)
    shared[0 + thread] = a81
    shared[256 + thread] = a87
    shared[512 + thread] = a101
    cuda.syncthreads()
    half = 128
    while half > 0:
        if thread < half:
            mine = shared[0 + thread]
            other = shared[0 + thread + half]
            shared[0 + thread] = (mine + other)
            mine = shared[256 + thread]
            other = shared[256 + thread + half]
            shared[256 + thread] = (mine + other)
            mine = shared[512 + thread]
            other = shared[512 + thread + half]
            shared[512 + thread] = (mine + other)
        cuda.syncthreads()
        half = half // 2
    if thread == 0:
        partials[0 * blocks + block] = shared[0]
        partials[1 * blocks + block] = shared[256]
        partials[2 * blocks + block] = shared[512]
    cuda.syncthreads()
    last = cuda.shared.array(1, i4)
    if thread == 0:
        cuda.threadfence()
        last[0] = 1 if cuda.atomic.add(arrivals, 0, 1) == blocks - 1 else 0
    cuda.syncthreads()
    if last[0] == 1:
        cuda.threadfence()
        a81 = f8(0)
        for other in range(thread, blocks, 256):
            found = partials[0 * blocks + other]
            a81 = (a81 + found)
        shared[0 + thread] = a81
        a87 = f8(0)
        for other in range(thread, blocks, 256):
            found = partials[1 * blocks + other]
            a87 = (a87 + found)
        shared[256 + thread] = a87
        a101 = f8(0)
        for other in range(thread, blocks, 256):
            found = partials[2 * blocks + other]
            a101 = (a101 + found)
        shared[512 + thread] = a101
        cuda.syncthreads()
        half = 128
        while half > 0:
            if thread < half:
                mine = shared[0 + thread]
                other = shared[0 + thread + half]
                shared[0 + thread] = (mine + other)
                mine = shared[256 + thread]
                other = shared[256 + thread + half]
                shared[256 + thread] = (mine + other)
                mine = shared[512 + thread]
                other = shared[512 + thread + half]
                shared[512 + thread] = (mine + other)
            cuda.syncthreads()
            half = half // 2
        a81 = shared[0]
        a87 = shared[256]
        a101 = shared[512]
        cuda.syncthreads()
        if thread == 0:
            arrivals[0] = 0
            arrivals[1] = 0
            arrivals[2] = 0
            arrivals[3] = 0
            arrivals[4] = 0
            pass
            if v104:
                flag[0] = 1
            if v105:
                flag[0] = 1
            v82 = f8(a81)
            v85 = cuda.selp(v8, v82, v84)
            o0[0] = v85
            v88 = f8(a87)
            v89 = (v12 * v88)
            v90 = (2.0 * v89)
            v91 = (v86 * v90)
            v92 = (-0.5 * v91)
            v93 = cuda.selp(v8, v92, 0.0)
            o1[0] = v93
            v102 = f8(a101)
            v103 = cuda.selp(v8, v102, 0.0)
            o2[0] = v103
