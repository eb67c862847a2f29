// SPDX-License-Identifier: Apache-2.0
package gatun.bindings.sockets;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.bindings.words.WordFunctions;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pipes of this process stand for sockets. */
class EventPollTest {
    private static final int LONG_MILLIS = 30_000;

    private final EventPoll poll = EventPoll.open().orElseThrow();
    private final EventPoll.Found found = new EventPoll.Found(4);
    private int reader;
    private int writer;

    @BeforeEach
    void open() throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment both = arena.allocate(JAVA_INT, 2);
            assertThat(call("pipe", both)).isZero();
            reader = both.getAtIndex(JAVA_INT, 0);
            writer = both.getAtIndex(JAVA_INT, 1);
        }
    }

    @AfterEach
    void close() throws Throwable {
        call("close", MemorySegment.ofAddress(reader));
        call("close", MemorySegment.ofAddress(writer));
    }

    private static int call(String function, MemorySegment argument) throws Throwable {
        return (int) ((MemorySegment) WordFunctions.find(function, 1).invokeExact(argument)).address();
    }

    private void write() throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment written = (MemorySegment) WordFunctions.find("write", 3)
                    .invokeExact(MemorySegment.ofAddress(writer), arena.allocate(1), MemorySegment.ofAddress(1));
            assertThat(written.address()).isOne();
        }
    }

    @Test
    void shouldFindEachArrivalOnce() throws Throwable {
        assertThat(poll.add(reader)).isTrue();
        assertThat(found.await(poll, 0)).isZero();
        for (int i = 0; i < 3; i++) {
            write();
            assertThat(found.await(poll, LONG_MILLIS)).isOne();
            assertThat(found.socket(0)).isEqualTo(reader);
            assertThat(found.hasEnded(0)).isFalse();
            assertThat(found.await(poll, 0)).as("without another arrival").isZero();
        }
    }

    @Test
    void shouldFindWhatWasThereBefore() throws Throwable {
        write();
        assertThat(poll.add(reader)).isTrue();
        assertThat(found.await(poll, LONG_MILLIS)).isOne();
    }

    @Test
    void shouldTellTheEnd() throws Throwable {
        assertThat(poll.add(reader)).isTrue();
        write();
        call("close", MemorySegment.ofAddress(writer));
        assertThat(found.await(poll, LONG_MILLIS)).isOne();
        assertThat(found.hasEnded(0)).isTrue();
    }

    @Test
    void shouldFindNothingOnWhatWasRemoved() throws Throwable {
        assertThat(poll.add(reader)).isTrue();
        poll.remove(reader);
        write();
        assertThat(found.await(poll, 0)).isZero();
    }

    @Test
    void shouldRefuseWhatIsNoSocket() {
        assertThat(poll.add(-1)).isFalse();
    }
}
