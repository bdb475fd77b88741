from vecdist.backends.cpu_language import *


@compiled
def prelude(x0, x1, x2, o0, o1, o2, flag, n0):
    v0 = load(x0, 0)
    v1 = (f8(float('-inf')) < v0)
    v2 = (v0 < f8(float('inf')))
    v3 = (v1 & v2)
    v4 = load(x1, 0)
    v5 = (0.0 < v4)
    v6 = (v4 < f8(float('inf')))
    v7 = (v5 & v6)
    v8 = (v3 & v7)
    v12 = (1.0 / v4)
    v16 = (v4 < 2.2250738585072014e-308)
    v17 = (v4 * 1.8014398509481984e+16)
    v18 = select(v16, v17, v4)
    v19 = bits(v18)
    v20 = i8(v19 + i8(2638147582215219))
    v21 = i8(v20 >> i8(52))
    v22 = i8(v21 & i8(2047))
    v23 = i8(v22 | i8(4841369599423283200))
    v24 = from_bits(v23)
    v25 = select(v16, 54.0, 0.0)
    v26 = (4503599627371519.0 + v25)
    v27 = (v24 - v26)
    v28 = (v27 * 0.6931471805598903)
    v29 = (v27 * 5.497923018708371e-14)
    v30 = i8(v20 & i8(4503599627370495))
    v31 = i8(v30 + i8(4604544271217802189))
    v32 = from_bits(v31)
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
    v75 = select(v6, v74, v4)
    v76 = (v4 == 0.0)
    v77 = select(v76, f8(float('-inf')), f8(float('nan')))
    v78 = select(v5, v75, v77)
    v79 = (v78 + 0.9189385332046727)
    v83 = float(n0)
    v84 = (f8(float('nan')) * v83)
    v86 = (-v12)
    v94 = (v12 * v12)
    v95 = (-v94)
    v104 = (not v3)
    v105 = (not v7)
    return (v0, v8, v12, v79, v84, v86, v95, v104, v105, )


@compiled
def nest0(first, last, p_a81, p_a87, p_a101, v0, v8, v12, v79, v84, v86, v95, v104, v105, x0, x1, x2, o0, o1, o2, flag, n0):
    size = 4096
    for block in range(first, last):
        a81 = f8(0)
        a87 = f8(0)
        a101 = f8(0)
        end = min(block * size + size, n0)
        for i9 in range(block * size, end):
            v10 = load(x2, i9)
            v11 = (v10 - v0)
            v13 = (v11 * v12)
            v14 = (v13 * v13)
            v15 = (-0.5 * v14)
            v80 = (v15 - v79)
            a81 = accumulate(a81, v80)
            a87 = accumulate(a87, v11)
            v96 = (v95 * v11)
            v97 = (2.0 * v13)
            v98 = (v96 * v97)
            v99 = (v98 * -0.5)
            v100 = (v99 - v12)
            a101 = accumulate(a101, v100)
        p_a81[block] = a81
        p_a87[block] = a87
        p_a101[block] = a101


@compiled
def finish(p_a81, p_a87, p_a101, v0, v8, v12, v79, v84, v86, v95, v104, v105, x0, x1, x2, o0, o1, o2, flag, n0):
    v82 = f8(total(p_a81))
    v85 = select(v8, v82, v84)
    v88 = f8(total(p_a87))
    v89 = (v12 * v88)
    v90 = (2.0 * v89)
    v91 = (v86 * v90)
    v92 = (-0.5 * v91)
    v93 = select(v8, v92, 0.0)
    v102 = f8(total(p_a101))
    v103 = select(v8, v102, 0.0)
    if v104:
        flag[0] = 1
    if v105:
        flag[0] = 1
    store(o0, 0, v85)
    store(o1, 0, v93)
    store(o2, 0, v103)
    return


@compiled
def kernel(x0, x1, x2, o0, o1, o2, flag, n0):
    v0, v8, v12, v79, v84, v86, v95, v104, v105, = prelude(x0, x1, x2, o0, o1, o2, flag, n0)
    blocks = (n0 + 4096 - 1) // 4096
    p_a81 = np.empty(blocks, np.float64)
    p_a87 = np.empty(blocks, np.float64)
    p_a101 = np.empty(blocks, np.float64)
    nest0(i8(0), blocks, p_a81, p_a87, p_a101, v0, v8, v12, v79, v84, v86, v95, v104, v105, x0, x1, x2, o0, o1, o2, flag, n0)
    finish(p_a81, p_a87, p_a101, v0, v8, v12, v79, v84, v86, v95, v104, v105, x0, x1, x2, o0, o1, o2, flag, n0)
