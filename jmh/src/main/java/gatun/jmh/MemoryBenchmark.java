// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionRegistry;
import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.RegionLease;
import java.lang.foreign.Arena;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Threads;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Taking and giving back memory: a buffer of the pool (0 B on the heap each) beside a shared arena for each, and a
 * lease on a window of a region. Two threads, as on the machines this was made on; {@code -t 1}, 4 and 8 show what cores that
 * do the same cost each other.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 2,
        jvmArgsAppend = {"-Xms512m", "-Xmx512m"})
@Threads(2)
public class MemoryBenchmark {
    /** Bytes of a buffer. */
    @Param({"128", "65536", "1048576"})
    public int byteSize;

    private final BufferPool pool = new BufferPool(256L << 20);
    private final SharedRegions regions = SharedRegions.open(pool);

    /** Registers a POSIX object; its name may go at once, its memory stays. */
    @Setup(Level.Trial)
    public void register() {
        SharedMemoryObject posix = SharedMemoryObject.posix(key(), 1 << 20);
        posix.segment().fill((byte) 1);
        regions.register("r", posix.key(), 0, 1 << 20);
        posix.close();
    }

    private static String key() {
        return "/gatun-benchmark-" + ProcessHandle.current().pid();
    }

    /** One buffer of the pool. */
    @Benchmark
    public long pooledBuffer() {
        try (Buffer buffer = pool.take(byteSize)) {
            return buffer.address();
        }
    }

    /** One shared arena with one allocation, which the pool saves. */
    @Benchmark
    public long sharedArena() {
        try (Arena arena = Arena.ofShared()) {
            return arena.allocate(byteSize, 64).address();
        }
    }

    /** One lease on a window of a guarded region, settled. */
    @Benchmark
    public long regionLease() {
        try (RegionLease lease = regions.borrow("r", 0, byteSize, RegionRegistry.Access.READ)) {
            lease.settle();
            return lease.segment().address();
        }
    }

    /** Gives everything back. */
    @TearDown(Level.Trial)
    public void close() {
        regions.close();
        pool.close();
    }
}
