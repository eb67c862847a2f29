// SPDX-License-Identifier: Apache-2.0
package gatun.memory.buffers;

import gatun.memory.buffers.BufferBlocks.BufferTable;
import gatun.memory.buffers.CoreCaches.BufferStack;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIJ_Result;

/**
 * Two buffers have all the bytes that may be lent: one is lent, and one is in a core's cache. The holder gives its
 * buffer back and takes one again, while another thread charges as much as the holder leaves: neither is refused, no
 * buffer has two holders, and no byte is lost.
 */
@JCStressTest
@Outcome(id = "0, 1, 256", expect = Expect.ACCEPTABLE, desc = "all had what they may have")
@Outcome(
        expect = Expect.FORBIDDEN,
        desc = "first figure: buffers lost or with two holders; second: whether there was room; third: lent bytes")
@State
public class CoreCachesStress {
    private static final int CORES = 2;
    private static final int SHIFT = Buffer.SMALLEST_SHIFT;
    private static final long CHARGE = Buffer.GRANULE;
    private static final int BUFFERS = 2;
    private static final long LIMIT = BUFFERS * CHARGE;

    private final BufferTable table = new BufferTable();
    private final BufferStack[] stacks = new BufferStack[SHIFT + 1];
    private final CoreCaches caches = new CoreCaches(CORES, LIMIT, table, stacks, () -> {});
    private final Buffer first;
    private boolean refused;

    /** One lent buffer, and one in a cache. */
    public CoreCachesStress() {
        stacks[SHIFT] = new BufferStack();
        first = lent();
        if (!caches.keep(1, lent(), CHARGE)) {
            throw new AssertionError("an empty cache keeps nothing");
        }
    }

    private Buffer lent() {
        Buffer buffer = new Buffer((idle, charged) -> {}, table.reserve(), SHIFT, 0, 0, null);
        table.put(buffer);
        caches.charge(CHARGE, LIMIT);
        return buffer;
    }

    /** Gives its buffer back, takes one again and gives that back, too. */
    @Actor
    public void giveBackAndTake() {
        giveBack(first);
        Buffer again = take();
        if (again != null) {
            giveBack(again);
        } else {
            refused = true;
        }
    }

    private void giveBack(Buffer buffer) {
        if (!caches.keep(0, buffer, CHARGE)) {
            stacks[SHIFT].push(buffer);
            caches.uncharge(CHARGE);
        }
    }

    private @Nullable Buffer take() {
        Buffer cached = caches.take(1, SHIFT, CHARGE, LIMIT);
        if (cached != null) {
            return cached;
        }
        if (!caches.charge(CHARGE, LIMIT)) {
            return null;
        }
        while (true) {
            Buffer shared = stacks[SHIFT].pop(table);
            Buffer found = shared == null ? caches.steal(SHIFT) : shared;
            if (found != null) {
                return found;
            }
        }
    }

    /** Finds room for as much as the other leaves. */
    @Actor
    public void charge(IIJ_Result result) {
        result.r2 = caches.charge(CHARGE, LIMIT) ? 1 : 0;
    }

    /** Counts what there is. */
    @Arbiter
    public void count(IIJ_Result result) {
        result.r3 = caches.lentBytes();
        caches.empty();
        int[] found = new int[BUFFERS + 1];
        Buffer next = stacks[SHIFT].pop(table);
        for (int i = 0; i <= BUFFERS && next != null; i++) {
            found[next.number]++;
            next = stacks[SHIFT].pop(table);
        }
        for (int number = 1; number <= BUFFERS; number++) {
            result.r1 += found[number] == 1 ? 0 : 1;
        }
        result.r1 += refused ? 1 : 0;
    }
}
