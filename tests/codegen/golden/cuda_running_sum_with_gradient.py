from vecdist.runtime.cuda.language import *


def kernel(x0, o0, o1, o2, o3, n0, partials, arrivals, lanes_i0, cut_i0):
    thread = cuda.threadIdx.x
    block = cuda.blockIdx.x
    blocks = cuda.gridDim.x
    first = block * 256 + thread
    step = blocks * 256
    shared = cuda.shared.array(8, f8)
    staged = cuda.shared.array(2560, f8)
    cut = cut_i0
    lanes = lanes_i0 // cut
    lane = thread % lanes
    mask = u4((1 << min(lanes, 32)) - 1 << thread % 32 - lane % 32)
    of_i3 = cuda.shared.array(16, f8)
    width = (n0 + cut * 4 * lanes - 1) // (cut * 4 * lanes) * (cut * 4 * lanes // cut)
    if cut > 1:
        for piece in range(first // lanes, 1 * cut, step // lanes):
            i0 = piece % 1
            start = piece // 1 * width
            stop = min(start + width, n0)
            whole_a5 = f8(0)
            whole_a14 = f8(0)
            beside = min(lanes, 32)
            offset0 = i4(lane // 32 * 128 + lane % 32 + beside * 0)
            offset1 = i4(lane // 32 * 128 + lane % 32 + beside * 1)
            offset2 = i4(lane // 32 * 128 + lane % 32 + beside * 2)
            offset3 = i4(lane // 32 * 128 + lane % 32 + beside * 3)
            for base in range(start, stop, 4 * lanes):
                room = i4(min(stop - base, 4 * lanes))
                final = i4(room - 1)
                inside0 = offset0 < room
                i3_0 = base + i8(min(offset0, final))
                inside1 = offset1 < room
                i3_1 = base + i8(min(offset1, final))
                inside2 = offset2 < room
                i3_2 = base + i8(min(offset2, final))
                inside3 = offset3 < room
                i3_3 = base + i8(min(offset3, final))
                v4_0 = x0[i3_0]
                v13_0 = x0[n0 - 1 - i3_0]
                v4_1 = x0[i3_1]
                v13_1 = x0[n0 - 1 - i3_1]
                v4_2 = x0[i3_2]
                v13_2 = x0[n0 - 1 - i3_2]
                v4_3 = x0[i3_3]
                v13_3 = x0[n0 - 1 - i3_3]
                read0_a5 = f8(v4_0) if inside0 else f8(0)
                read0_a14 = f8(v13_0) if inside0 else f8(0)
                read1_a5 = f8(v4_1) if inside1 else f8(0)
                read1_a14 = f8(v13_1) if inside1 else f8(0)
                read2_a5 = f8(v4_2) if inside2 else f8(0)
                read2_a14 = f8(v13_2) if inside2 else f8(0)
                read3_a5 = f8(v4_3) if inside3 else f8(0)
                read3_a14 = f8(v13_3) if inside3 else f8(0)
                all_a5 = read0_a5
                all_a5 = all_a5 + read1_a5
                all_a5 = all_a5 + read2_a5
                all_a5 = all_a5 + read3_a5
                all_a14 = read0_a14
                all_a14 = all_a14 + read1_a14
                all_a14 = all_a14 + read2_a14
                all_a14 = all_a14 + read3_a14
                before_a5 = f8(0)
                before_a14 = f8(0)
                hop = 1
                while min(lanes, 32) > hop:
                    other_a5 = cuda.shfl_xor_sync(mask, all_a5, hop)
                    other_a14 = cuda.shfl_xor_sync(mask, all_a14, hop)
                    if lane & hop > 0:
                        before_a5 = other_a5 + before_a5
                        all_a5 = other_a5 + all_a5
                        before_a14 = other_a14 + before_a14
                        all_a14 = other_a14 + all_a14
                    else:
                        all_a5 = all_a5 + other_a5
                        all_a14 = all_a14 + other_a14
                    hop = hop * 2
                if lanes > 32:
                    if thread % 32 == 0:
                        of_i3[0 + thread // 32] = all_a5
                        of_i3[8 + thread // 32] = all_a14
                    cuda.syncthreads()
                    ahead_a5 = f8(0)
                    ahead_a14 = f8(0)
                    all_a5 = f8(0)
                    all_a14 = f8(0)
                    for other in range(8):
                        other_a5 = of_i3[0 + other]
                        other_a14 = of_i3[8 + other]
                        if other < thread // 32:
                            ahead_a5 = ahead_a5 + other_a5
                            ahead_a14 = ahead_a14 + other_a14
                        all_a5 = all_a5 + other_a5
                        all_a14 = all_a14 + other_a14
                    before_a5 = ahead_a5 + before_a5
                    before_a14 = ahead_a14 + before_a14
                    cuda.syncthreads()
                whole_a5 = whole_a5 + all_a5
                whole_a14 = whole_a14 + all_a14
            if lane == 0:
                partials[1 * blocks + (0 + piece)] = whole_a5
                partials[1 * blocks + (256 + piece)] = whole_a14
        cuda.syncthreads()
        if thread == 0:
            cuda.threadfence()
            cuda.atomic.add(arrivals, 7, 1)
            while cuda.atomic.add(arrivals, 7, 0) < blocks:
                pass
            cuda.threadfence()
        cuda.syncthreads()
    for piece in range(first // lanes, 1 * cut, step // lanes):
        i0 = piece % 1
        start = piece // 1 * width
        stop = min(start + width, n0)
        a5 = f8(0)
        a14 = f8(0)
        for base in range(0, piece // 1, lanes):
            all_a5 = f8(0)
            all_a14 = f8(0)
            if piece // 1 > base + lane:
                all_a5 = partials[1 * blocks + (0 + ((base + lane) * 1 + i0))]
                all_a14 = partials[1 * blocks + (256 + ((base + lane) * 1 + i0))]
            before_a5 = f8(0)
            before_a14 = f8(0)
            hop = 1
            while min(lanes, 32) > hop:
                other_a5 = cuda.shfl_xor_sync(mask, all_a5, hop)
                other_a14 = cuda.shfl_xor_sync(mask, all_a14, hop)
                if lane & hop > 0:
                    before_a5 = other_a5 + before_a5
                    all_a5 = other_a5 + all_a5
                    before_a14 = other_a14 + before_a14
                    all_a14 = other_a14 + all_a14
                else:
                    all_a5 = all_a5 + other_a5
                    all_a14 = all_a14 + other_a14
                hop = hop * 2
            if lanes > 32:
                if thread % 32 == 0:
                    of_i3[0 + thread // 32] = all_a5
                    of_i3[8 + thread // 32] = all_a14
                cuda.syncthreads()
                ahead_a5 = f8(0)
                ahead_a14 = f8(0)
                all_a5 = f8(0)
                all_a14 = f8(0)
                for other in range(8):
                    other_a5 = of_i3[0 + other]
                    other_a14 = of_i3[8 + other]
                    if other < thread // 32:
                        ahead_a5 = ahead_a5 + other_a5
                        ahead_a14 = ahead_a14 + other_a14
                    all_a5 = all_a5 + other_a5
                    all_a14 = all_a14 + other_a14
                before_a5 = ahead_a5 + before_a5
                before_a14 = ahead_a14 + before_a14
                cuda.syncthreads()
            a5 = a5 + all_a5
            a14 = a14 + all_a14
        c_a5 = a5
        c_a14 = a14
        beside = min(lanes, 32)
        offset0 = i4(lane // 32 * 128 + lane % 32 + beside * 0)
        offset1 = i4(lane // 32 * 128 + lane % 32 + beside * 1)
        offset2 = i4(lane // 32 * 128 + lane % 32 + beside * 2)
        offset3 = i4(lane // 32 * 128 + lane % 32 + beside * 3)
        place = beside * 0 + lane % 32
        left0 = (thread - lane % 32) * 5 + place + place // 4
        place = beside * 1 + lane % 32
        left1 = (thread - lane % 32) * 5 + place + place // 4
        place = beside * 2 + lane % 32
        left2 = (thread - lane % 32) * 5 + place + place // 4
        place = beside * 3 + lane % 32
        left3 = (thread - lane % 32) * 5 + place + place // 4
        for base in range(start, stop, 4 * lanes):
            room = i4(min(stop - base, 4 * lanes))
            final = i4(room - 1)
            inside0 = offset0 < room
            i3_0 = base + i8(min(offset0, final))
            inside1 = offset1 < room
            i3_1 = base + i8(min(offset1, final))
            inside2 = offset2 < room
            i3_2 = base + i8(min(offset2, final))
            inside3 = offset3 < room
            i3_3 = base + i8(min(offset3, final))
            v4_0 = x0[i3_0]
            v13_0 = x0[n0 - 1 - i3_0]
            v4_1 = x0[i3_1]
            v13_1 = x0[n0 - 1 - i3_1]
            v4_2 = x0[i3_2]
            v13_2 = x0[n0 - 1 - i3_2]
            v4_3 = x0[i3_3]
            v13_3 = x0[n0 - 1 - i3_3]
            read0_a5 = f8(v4_0) if inside0 else f8(0)
            read0_a14 = f8(v13_0) if inside0 else f8(0)
            read1_a5 = f8(v4_1) if inside1 else f8(0)
            read1_a14 = f8(v13_1) if inside1 else f8(0)
            read2_a5 = f8(v4_2) if inside2 else f8(0)
            read2_a14 = f8(v13_2) if inside2 else f8(0)
            read3_a5 = f8(v4_3) if inside3 else f8(0)
            read3_a14 = f8(v13_3) if inside3 else f8(0)
            own0_a5 = read0_a5
            own0_a14 = read0_a14
            own1_a5 = read1_a5
            own1_a14 = read1_a14
            own2_a5 = read2_a5
            own2_a14 = read2_a14
            own3_a5 = read3_a5
            own3_a14 = read3_a14
            if lanes > 1:
                staged[0 + left0] = own0_a5
                staged[0 + left1] = own1_a5
                staged[0 + left2] = own2_a5
                staged[0 + left3] = own3_a5
                staged[1280 + left0] = own0_a14
                staged[1280 + left1] = own1_a14
                staged[1280 + left2] = own2_a14
                staged[1280 + left3] = own3_a14
                cuda.syncwarp(mask)
                own0_a5 = staged[0 + (thread * 5 + 0)]
                own1_a5 = staged[0 + (thread * 5 + 1)]
                own2_a5 = staged[0 + (thread * 5 + 2)]
                own3_a5 = staged[0 + (thread * 5 + 3)]
                own0_a14 = staged[1280 + (thread * 5 + 0)]
                own1_a14 = staged[1280 + (thread * 5 + 1)]
                own2_a14 = staged[1280 + (thread * 5 + 2)]
                own3_a14 = staged[1280 + (thread * 5 + 3)]
            own1_a5 = own0_a5 + own1_a5
            own2_a5 = own1_a5 + own2_a5
            own3_a5 = own2_a5 + own3_a5
            all_a5 = own3_a5
            own1_a14 = own0_a14 + own1_a14
            own2_a14 = own1_a14 + own2_a14
            own3_a14 = own2_a14 + own3_a14
            all_a14 = own3_a14
            before_a5 = f8(0)
            before_a14 = f8(0)
            hop = 1
            while min(lanes, 32) > hop:
                other_a5 = cuda.shfl_xor_sync(mask, all_a5, hop)
                other_a14 = cuda.shfl_xor_sync(mask, all_a14, hop)
                if lane & hop > 0:
                    before_a5 = other_a5 + before_a5
                    all_a5 = other_a5 + all_a5
                    before_a14 = other_a14 + before_a14
                    all_a14 = other_a14 + all_a14
                else:
                    all_a5 = all_a5 + other_a5
                    all_a14 = all_a14 + other_a14
                hop = hop * 2
            if lanes > 32:
                if thread % 32 == 0:
                    of_i3[0 + thread // 32] = all_a5
                    of_i3[8 + thread // 32] = all_a14
                cuda.syncthreads()
                ahead_a5 = f8(0)
                ahead_a14 = f8(0)
                all_a5 = f8(0)
                all_a14 = f8(0)
                for other in range(8):
                    other_a5 = of_i3[0 + other]
                    other_a14 = of_i3[8 + other]
                    if other < thread // 32:
                        ahead_a5 = ahead_a5 + other_a5
                        ahead_a14 = ahead_a14 + other_a14
                    all_a5 = all_a5 + other_a5
                    all_a14 = all_a14 + other_a14
                before_a5 = ahead_a5 + before_a5
                before_a14 = ahead_a14 + before_a14
                cuda.syncthreads()
            a5 = c_a5 + before_a5
            c_a5 = c_a5 + all_a5
            own0_a5 = a5 + own0_a5
            own1_a5 = a5 + own1_a5
            own2_a5 = a5 + own2_a5
            own3_a5 = a5 + own3_a5
            a14 = c_a14 + before_a14
            c_a14 = c_a14 + all_a14
            own0_a14 = a14 + own0_a14
            own1_a14 = a14 + own1_a14
            own2_a14 = a14 + own2_a14
            own3_a14 = a14 + own3_a14
            if lanes > 1:
                staged[0 + (thread * 5 + 0)] = own0_a5
                staged[0 + (thread * 5 + 1)] = own1_a5
                staged[0 + (thread * 5 + 2)] = own2_a5
                staged[0 + (thread * 5 + 3)] = own3_a5
                staged[1280 + (thread * 5 + 0)] = own0_a14
                staged[1280 + (thread * 5 + 1)] = own1_a14
                staged[1280 + (thread * 5 + 2)] = own2_a14
                staged[1280 + (thread * 5 + 3)] = own3_a14
                cuda.syncwarp(mask)
                own0_a5 = staged[0 + left0]
                own1_a5 = staged[0 + left1]
                own2_a5 = staged[0 + left2]
                own3_a5 = staged[0 + left3]
                own0_a14 = staged[1280 + left0]
                own1_a14 = staged[1280 + left1]
                own2_a14 = staged[1280 + left2]
                own3_a14 = staged[1280 + left3]
                cuda.syncwarp(mask)
            a5 = own0_a5
            a14 = own0_a14
            if inside0:
                v6_0 = f8(a5)
                o1[i3_0] = v6_0
                v15_0 = f8(a14)
                o3[n0 - 1 - i3_0] = v15_0
            a5 = own1_a5
            a14 = own1_a14
            if inside1:
                v6_1 = f8(a5)
                o1[i3_1] = v6_1
                v15_1 = f8(a14)
                o3[n0 - 1 - i3_1] = v15_1
            a5 = own2_a5
            a14 = own2_a14
            if inside2:
                v6_2 = f8(a5)
                o1[i3_2] = v6_2
                v15_2 = f8(a14)
                o3[n0 - 1 - i3_2] = v15_2
            a5 = own3_a5
            a14 = own3_a14
            if inside3:
                v6_3 = f8(a5)
                o1[i3_3] = v6_3
                v15_3 = f8(a14)
                o3[n0 - 1 - i3_3] = v15_3
    cuda.syncthreads()
    if thread == 0:
        cuda.threadfence()
        cuda.atomic.add(arrivals, 1, 1)
        while cuda.atomic.add(arrivals, 1, 0) < blocks:
            pass
        cuda.threadfence()
    cuda.syncthreads()
    a11 = f8(0)
    end_i7 = n0
    if not (aligned(o1) and aligned(o2) and aligned(o3) and aligned(x0)):
        end_i7 = 0
    top = (n0 - 1) // (2 * 256) * (2 * 256)
    f_v8_0 = f8(0)
    f_v8_1 = f8(0)
    f_v9_0 = f8(0)
    f_v9_1 = f8(0)
    f_v16_0 = f8(0)
    f_v16_1 = f8(0)
    ahead = top - 2 * 256 - block * (2 * 256) if block * (2 * 256) < top else top
    if ahead + 2 * 256 <= end_i7 and block * (2 * 256) < n0:
        f_v8_0, f_v8_1 = load_2(o1, ahead + 2 * thread)
        f_v9_0, f_v9_1 = load_2(x0, ahead + 2 * thread)
        f_v16_0, f_v16_1 = load_2(o3, ahead + 2 * thread)
    for behind in range(block * (2 * 256), n0, blocks * (2 * 256)):
        base = top - 2 * 256 - behind if behind < top else top
        done = False
        if base + 2 * 256 <= end_i7:
            i7_0 = base + 2 * thread
            v8_0 = f_v8_0
            v9_0 = f_v9_0
            v16_0 = f_v16_0
            i7_1 = base + 2 * thread + 1
            v8_1 = f_v8_1
            v9_1 = f_v9_1
            v16_1 = f_v16_1
            ahead = top - 2 * 256 - (behind + blocks * (2 * 256)) if behind + blocks * (2 * 256) < top else top
            if ahead + 2 * 256 <= end_i7 and behind + blocks * (2 * 256) < n0:
                f_v8_0, f_v8_1 = load_2(o1, ahead + 2 * thread)
                f_v9_0, f_v9_1 = load_2(x0, ahead + 2 * thread)
                f_v16_0, f_v16_1 = load_2(o3, ahead + 2 * thread)
            v10_0 = v8_0 * v9_0
            v17_0 = v8_0 + v16_0
            v10_1 = v8_1 * v9_1
            v17_1 = v8_1 + v16_1
            store_2(o2, base + 2 * thread, v17_0, v17_1)
            a11 = a11 + f8(v10_0 + v10_1)
            done = True
        if not done:
            for copy in range(2):
                i7 = base + 2 * (thread + copy // 2 * 256) + copy % 2
                if base + 2 * 256 > end_i7:
                    i7 = base + thread + copy * 256
                if i7 < n0:
                    v8 = o1[i7]
                    v9 = x0[i7]
                    v16 = o3[i7]
                    v10 = v8 * v9
                    a11 = a11 + f8(v10)
                    v17 = v8 + v16
                    o2[i7] = v17
    hop = 16
    while hop > 0:
        found_a11 = cuda.shfl_xor_sync(u4(4294967295), a11, hop)
        a11 = a11 + found_a11
        hop = hop // 2
    if thread % 32 == 0:
        shared[0 + thread // 32] = a11
    cuda.syncthreads()
    if thread == 0:
        a11 = shared[0]
        for other in range(1, 8):
            found_a11 = shared[0 + other]
            a11 = a11 + found_a11
        partials[0 * blocks + block] = a11
    cuda.syncthreads()
    last = cuda.shared.array(1, i4)
    if thread == 0:
        cuda.threadfence()
        last[0] = 1 if cuda.atomic.add(arrivals, 0, 1) == blocks - 1 else 0
    cuda.syncthreads()
    if last[0] == 1:
        cuda.threadfence()
        a11 = f8(0)
        for other in range(thread, blocks, 256):
            found_a11 = partials[0 * blocks + other]
            a11 = a11 + found_a11
        hop = 16
        while hop > 0:
            found_a11 = cuda.shfl_xor_sync(u4(4294967295), a11, hop)
            a11 = a11 + found_a11
            hop = hop // 2
        if thread % 32 == 0:
            shared[0 + thread // 32] = a11
        cuda.syncthreads()
        a11 = shared[0]
        for other in range(1, 8):
            found_a11 = shared[0 + other]
            a11 = a11 + found_a11
        cuda.syncthreads()
        if thread == 0:
            arrivals[0] = 0
            arrivals[1] = 0
            arrivals[2] = 0
            arrivals[3] = 0
            arrivals[4] = 0
            arrivals[5] = 0
            arrivals[6] = 0
            arrivals[7] = 0
            v12 = f8(a11)
            o0[0] = v12
