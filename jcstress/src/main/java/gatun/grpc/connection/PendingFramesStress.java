// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.grpc.frames.FrameReader.ConnectionBuffers;
import gatun.grpc.frames.FrameWriter;
import gatun.listener.IoBuffers;
import gatun.listener.Transport;
import gatun.listener.Transport.TransferredBytes;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.Expect;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** Two threads queue a task for the writer, and neither waits for its lock: no task stays behind in the queue. */
@JCStressTest
@Outcome(id = "2", expect = Expect.ACCEPTABLE, desc = "both were told")
@Outcome(expect = Expect.FORBIDDEN, desc = "something waits for nobody")
@State
public class PendingFramesStress {
    /** A client to which no byte is ever sent. */
    private static final class Silent implements Transport {
        @Override
        public int read(ByteBuffer target) {
            return -1;
        }

        @Override
        public void writeSome(ByteBuffer[] sources, int first, int end) {
            throw new AssertionError("there is nothing to write");
        }

        @Override
        public TransferredBytes transferred() {
            return new TransferredBytes();
        }

        @Override
        public void shutdownOutput() {}

        @Override
        public void close() {}
    }

    /** Those of all writers. */
    private static final ConnectionBuffers BUFFERS = new ConnectionBuffers(new IoBuffers());

    /** Threads that the writer starts for tasks that it has no time for. */
    private final Queue<Thread> threads = new ConcurrentLinkedQueue<>();

    private final FrameWriter writer =
            new FrameWriter(new Silent(), BUFFERS, Duration.ofMinutes(1), this::thread, failure -> {});

    /** Guarded by the writer's lock. */
    private int told;

    private Thread thread(Runnable task) {
        Thread thread = Thread.ofPlatform().unstarted(task);
        threads.add(thread);
        return thread;
    }

    private void tell() {
        writer.enqueue(locked -> told++);
    }

    /** A thread. */
    @Actor
    public void first() {
        tell();
    }

    /** Another. */
    @Actor
    public void second() {
        tell();
    }

    /** Stores how many of the queued tasks have run. */
    @Arbiter
    public void end(I_Result result) {
        for (Thread thread : threads) {
            while (thread.isAlive()) {
                Thread.onSpinWait();
            }
        }
        writer.close();
        result.r1 = told;
    }
}
