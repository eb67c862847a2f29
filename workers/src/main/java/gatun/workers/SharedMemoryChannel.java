// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import gatun.bindings.Futex;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.ServerThreadAffinity;
import gatun.memory.threads.YieldBeforeBlock;
import gatun.spi.Tuning;
import gatun.spi.Tuning.Subject;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.function.Consumer;
import java.util.function.IntPredicate;

/**
 * A place in shared memory where the server and a thread of a worker take turns: one writes a frame and gives the turn
 * to the other, which sleeps until then. Whose turn it is stands in a word that the system can wait for. One thread on
 * each side at a time; {@link #end} and {@link #askToStop} are for any thread of the server.
 */
@SuppressWarnings("EnumOrdinal") // both sides are of one build
public final class SharedMemoryChannel implements AutoCloseable {
    /** Whose turn it is, and why. */
    public enum Turn {
        /** The worker's: nothing is to be done. */
        IDLE,
        /** The worker's: a run. */
        RUN,
        /** The worker's: the run goes on. */
        GO_ON,
        /** The server's: the run goes on after it. */
        MORE,
        /** The server's: the run is over. */
        DONE,
        /** Nobody's any more. */
        ENDED;

        private boolean isServers() {
            return this == MORE || this == DONE || this == ENDED;
        }

        private boolean isWorkers() {
            return this == RUN || this == GO_ON || this == ENDED;
        }
    }

    private static final Turn[] TURNS = Turn.values();
    private static final VarHandle WORD = JAVA_INT.varHandle();

    // Where what lies: each word has a line of the cache to itself, since both sides look at them again and again.
    private static final long TURN = 0;
    private static final long SERVER_SLEEPS = 64;
    private static final long WORKER_SLEEPS = 128;
    private static final long STOP = 192;
    private static final long LENGTH = 256;
    /** The core that the server hands over while it waits, from 1; 0 for none. */
    private static final long CALLER_CORE = 260;

    private static final long FRAME = 320;

    /** The memory of one; a page costs nothing before its first use. */
    static final long BYTE_SIZE = 1 << 20;

    private static final int MOST_FRAME = (int) (BYTE_SIZE - FRAME);

    private final MemorySegment memory;
    private final Runnable release;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment timespec = arena.allocate(Futex.TIMESPEC_BYTES, Long.BYTES);
    private final FrameWriter writer = new FrameWriter();
    private final long spinNanos;

    // Of the server's side: how it waits, without making anything.
    private final YieldBeforeBlock handOver;
    private final IntPredicate isWaiting = this::isWaiting;
    private int core = YieldBeforeBlock.NO_CORE;
    private long postedNanos;

    // Of the worker's.
    private final ServerThreadAffinity place = new ServerThreadAffinity();
    private final Runnable sleep = this::sleepWhileNothingIsToDo;
    private Turn beforeSleep = Turn.IDLE;

    private byte[] bytes = new byte[512];

    /** One side of a mailbox, as {@link SharedMemoryChannels#mailbox} says. Closing calls {@code release}. */
    SharedMemoryChannel(MemorySegment memory, Runnable release, long spinNanos, Tuning tuning) {
        this.handOver =
                new YieldBeforeBlock(tuning.tuner(Subject.CORES, YieldBeforeBlock.WAYS, YieldBeforeBlock.TRIALS));
        this.memory = memory;
        this.release = release;
        this.spinNanos = spinNanos;
    }

    /**
     * Writes a frame and gives the turn to the other side; false when it has ended meanwhile. For whoever's turn it is.
     * Throws {@link GatunException} RESOURCE_EXHAUSTED, and keeps the turn, when the frame is too long.
     */
    public boolean post(Turn turn, Consumer<FrameWriter> body) {
        writer.begin(0);
        body.accept(writer);
        ByteBuffer frame = writer.end();
        int byteSize = frame.limit();
        if (byteSize > MOST_FRAME) {
            throw new GatunException(
                    ErrorCode.RESOURCE_EXHAUSTED,
                    "the names, shapes and parameters of a run have " + byteSize + " bytes: expected " + MOST_FRAME
                            + " at most for a model in a process of its own; send fewer requests at a time, or shorter"
                            + " parameters");
        }
        MemorySegment.copy(frame.array(), frame.arrayOffset(), memory, JAVA_BYTE, FRAME, byteSize);
        memory.set(JAVA_INT, LENGTH, byteSize);
        if (turn.isWorkers()) {
            core = spinNanos > 0 ? YieldBeforeBlock.NO_CORE : handOver.core();
            memory.set(JAVA_INT, CALLER_CORE, core + 1);
            postedNanos = System.nanoTime();
        }
        int before = (int) WORD.getVolatile(memory, TURN);
        if (before == Turn.ENDED.ordinal() || !WORD.compareAndSet(memory, TURN, before, turn.ordinal())) {
            return false;
        }
        long sleeps = turn.isServers() ? SERVER_SLEEPS : WORKER_SLEEPS;
        if ((int) WORD.getVolatile(memory, sleeps) != 0) {
            Futex.wake(memory.address() + TURN);
        }
        return true;
    }

    /** The frame that the other side has written; valid until the next is. For whoever's turn it is. */
    public FrameReader frame() {
        int byteSize = memory.get(JAVA_INT, LENGTH);
        // Four bytes of length and one of kind are before the body.
        if (byteSize < Integer.BYTES + 1 || byteSize > MOST_FRAME) {
            throw new MalformedFrameException("a frame of " + byteSize + " bytes came to a mailbox");
        }
        if (byteSize > bytes.length) {
            bytes = new byte[byteSize];
        }
        // Copied, since the other side may be broken and write on.
        MemorySegment.copy(memory, JAVA_BYTE, FRAME, bytes, 0, byteSize);
        return new FrameReader(ByteBuffer.wrap(bytes, Integer.BYTES + 1, byteSize - Integer.BYTES - 1));
    }

    /** Waits for the server's turn; IDLE after {@code limitNanos}, 0 for ever. */
    public Turn awaitServer(long limitNanos) {
        long begun = System.nanoTime();
        Turn turn = turn();
        while (!turn.isServers() && System.nanoTime() - begun < spinNanos) {
            Thread.onSpinWait();
            turn = turn();
        }
        if (core >= 0) {
            YieldBeforeBlock.await(isWaiting, 0);
            turn = turn();
        }
        if (!turn.isServers()) {
            turn = sleepUntilServers(begun, limitNanos);
        }
        handOver.noteWait(System.nanoTime() - postedNanos);
        return turn;
    }

    private boolean isWaiting(int number) {
        return !turn().isServers();
    }

    private Turn sleepUntilServers(long begun, long limitNanos) {
        WORD.setVolatile(memory, SERVER_SLEEPS, 1);
        try {
            Turn turn;
            for (turn = turn(); !turn.isServers(); turn = turn()) {
                if (limitNanos == 0) {
                    Futex.await(memory.address() + TURN, turn.ordinal());
                    continue;
                }
                long left = limitNanos - (System.nanoTime() - begun);
                if (left <= 0) {
                    return Turn.IDLE;
                }
                Futex.await(memory.address() + TURN, turn.ordinal(), left, timespec);
            }
            return turn;
        } finally {
            WORD.setVolatile(memory, SERVER_SLEEPS, 0);
        }
    }

    /** Waits for the worker's turn. */
    public Turn awaitWorker() {
        long begun = System.nanoTime();
        Turn turn = turn();
        while (!turn.isWorkers() && System.nanoTime() - begun < spinNanos) {
            Thread.onSpinWait();
            turn = turn();
        }
        if (!turn.isWorkers()) {
            turn = sleepUntilWorkers();
        }
        place.noteCaller(this, memory.get(JAVA_INT, CALLER_CORE) - 1);
        return turn;
    }

    private Turn sleepUntilWorkers() {
        WORD.setVolatile(memory, WORKER_SLEEPS, 1);
        try {
            for (beforeSleep = turn(); !beforeSleep.isWorkers(); beforeSleep = turn()) {
                place.sleep(sleep);
            }
            return beforeSleep;
        } finally {
            WORD.setVolatile(memory, WORKER_SLEEPS, 0);
        }
    }

    private void sleepWhileNothingIsToDo() {
        Futex.await(memory.address() + TURN, beforeSleep.ordinal());
    }

    private Turn turn() {
        int turn = (int) WORD.getVolatile(memory, TURN);
        return turn >= 0 && turn < TURNS.length ? TURNS[turn] : Turn.ENDED;
    }

    /** Says whether the run under way is wanted no more. */
    public void askToStop(boolean stop) {
        WORD.setVolatile(memory, STOP, stop ? 1 : 0);
    }

    /** Whether the run under way is wanted no more. */
    public boolean isAskedToStop() {
        return (int) WORD.getVolatile(memory, STOP) != 0;
    }

    /** Ends it for both sides, which are woken. */
    public void end() {
        WORD.setVolatile(memory, TURN, Turn.ENDED.ordinal());
        Futex.wake(memory.address() + TURN);
    }

    /** For when no thread of this side uses it any more. */
    @Override
    public void close() {
        release.run();
        arena.close();
    }
}
