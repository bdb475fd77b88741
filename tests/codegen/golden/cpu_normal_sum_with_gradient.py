from vecdist.runtime.cpu.language import *


@compiled
def prelude(doubles, integers, x0, x1):
    v2 = load(x0, 0, -1, 3)
    v4 = load(x1, 0, -1, 3)
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
    v18 = select(v16, v17, v4)
    v19 = bits(v18)
    v20 = i8(u8(i8(v19)) + u8(i8(i8(2638147582215219))))
    v21 = i8(v20 >> i8(52))
    v22 = i8(v21 & i8(2047))
    v23 = i8(v22 | i8(4841369599423283200))
    v24 = from_bits(v23)
    v25 = select(v16, 54.0, 0.0)
    v26 = 4503599627371519.0 + v25
    v27 = v24 - v26
    v28 = v27 * 0.6931471805598903
    v29 = v27 * 5.497923018708371e-14
    v30 = i8(v20 & i8(4503599627370495))
    v31 = i8(u8(i8(v30)) + u8(i8(i8(4604544271217802189))))
    v32 = from_bits(v31)
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
    v75 = select(v13, v74, v4)
    v76 = v4 == 0.0
    v77 = select(v76, f8(float('-inf')), f8(float('nan')))
    v78 = select(v12, v75, v77)
    v79 = v78 + 0.9189385332046727
    v80 = select(v15, v79, f8(float('nan')))
    v95 = not v11
    v96 = not v14
    store(doubles, 0, f8(v2), -1, 3)
    store(doubles, 1, f8(v5), -1, 3)
    store(integers, 0, i8(v15), -1, 3)
    store(doubles, 2, f8(v80), -1, 3)
    store(integers, 1, i8(v95), -1, 3)
    store(integers, 2, i8(v96), -1, 3)


@compiled
def nest0(first, last, p_a82, p_a84, p_a92, doubles, x2, n0):
    v2 = load(doubles, 0, -1, 3)
    v5 = load(doubles, 1, -1, 3)
    v80 = load(doubles, 2, -1, 3)
    widest()
    size = 4096
    for block in range(first, last):
        a82 = f8(0)
        a84 = f8(0)
        a92 = f8(0)
        end = min(block * size + size, n0)
        for i0 in range(block * size, end):
            v1 = load(x2, i0, -1, 3)
            v3 = v1 - v2
            v6 = v3 * v5
            v7 = v6 * v6
            v8 = v7 * -0.5
            v81 = v8 - v80
            a82 = accumulate_sum(a82, v81)
            a84 = accumulate_sum(a84, v3)
            v89 = v6 * v5
            v90 = v89 * v6
            v91 = v90 - v5
            a92 = accumulate_sum(a92, v91)
        p_a82[block] = a82
        p_a84[block] = a84
        p_a92[block] = a92


@compiled
def finish(p_a82, p_a84, p_a92, doubles, integers, o0, o1, o2, flag):
    v5 = load(doubles, 1, -1, 3)
    v15 = load(integers, 0, -1, 3) != 0
    v95 = load(integers, 1, -1, 3) != 0
    v96 = load(integers, 2, -1, 3) != 0
    v83 = f8(total_sum(p_a82))
    v85 = f8(total_sum(p_a84))
    v86 = v5 * v85
    v87 = v5 * v86
    v88 = select(v15, v87, 0.0)
    v93 = f8(total_sum(p_a92))
    v94 = select(v15, v93, 0.0)
    store(o0, 0, v83, 0, 3)
    store(o1, 0, v88, 1, 3)
    store(o2, 0, v94, 2, 3)
    if v95 | v96:
        flag[0] = 1
    return


@compiled
def kernel(x0, x1, x2, o0, o1, o2, flag, n0):
    widest()
    doubles = room(3, f8)
    singles = room(0, f4)
    integers = room(3, i8)
    prelude(doubles, integers, x0, x1)
    blocks = (n0 + 4096 - 1) // 4096
    p_a82 = empty(blocks, f8)
    p_a84 = empty(blocks, f8)
    p_a92 = empty(blocks, f8)
    nest0(i8(0), blocks, p_a82, p_a84, p_a92, doubles, x2, n0)
    finish(p_a82, p_a84, p_a92, doubles, integers, o0, o1, o2, flag)


@compiled
def part(number, first, last, p_a82, p_a84, p_a92, doubles, singles, integers, x0, x1, x2, o0, o1, o2, flag, n0):
    if number == 0:
        prelude(doubles, integers, x0, x1)
    elif number == 1:
        nest0(first, last, p_a82, p_a84, p_a92, doubles, x2, n0)
    elif number == 2:
        finish(p_a82, p_a84, p_a92, doubles, integers, o0, o1, o2, flag)
