// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each step of a long message is followed by a yield, whatever its fields are. */
@Timeout(60)
class LongMessageTest {
    private static final int STEPS = 16;
    private static final int LENGTH = STEPS * CooperativeYield.STEP;
    private static final int FIELD = 8;
    private static final byte STRING = FIELD << 3 | WireReader.LENGTH_DELIMITED;
    private static final byte GROUP_START = FIELD << 3 | WireReader.GROUP_START;
    private static final byte GROUP_END = FIELD << 3 | WireReader.GROUP_END;

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    static Stream<Arguments> messages() {
        return Stream.of(
                message("numbers", LongMessageTest::skip, 8, 1),
                message("strings", LongMessageTest::skip, STRING, 1, 'x'),
                message("numbers in a group", LongMessageTest::skipGroup, 8, 8),
                message("strings of a tensor", LongMessageTest::writeStrings, STRING, 1, 'x'),
                message("packed numbers", LongMessageTest::countPackedNumbers, 1),
                message("lengths of strings", LongMessageTest::checkStrings, 0));
    }

    private static Arguments message(String kind, Consumer<MemorySegment> reading, int... unit) {
        return arguments(kind, unit, reading);
    }

    private static void skip(MemorySegment message) {
        WireReader in = new WireReader(message);
        while (in.hasMore()) {
            in.skip(in.tag());
        }
    }

    private static void skipGroup(MemorySegment message) {
        message.set(ValueLayout.JAVA_BYTE, 0, GROUP_START);
        message.set(ValueLayout.JAVA_BYTE, message.byteSize() - 1, GROUP_END);
        skip(message);
    }

    private static void writeStrings(MemorySegment message) {
        try (Arena own = Arena.ofConfined()) {
            MemorySegment target = own.allocate(2 * message.byteSize(), Integer.BYTES);
            new RepeatedField(message, FIELD, WireReader.LENGTH_DELIMITED, Datatype.BYTES)
                    .write(0, (int) message.byteSize(), target, 0);
        }
    }

    private static void countPackedNumbers(MemorySegment message) {
        int lengthBytes = 4;
        int length = LENGTH - lengthBytes;
        for (int i = 0; i < lengthBytes; i++) {
            int more = i < lengthBytes - 1 ? 0x80 : 0;
            message.set(ValueLayout.JAVA_BYTE, i, (byte) (((length >>> (7 * i)) & 0x7f) | more));
        }
        assertThat(RepeatedField.packedCount(new WireReader(message), WireReader.VARINT))
                .isEqualTo(length);
    }

    private static void checkStrings(MemorySegment message) {
        long count = message.byteSize() / BytesCodec.LENGTH_BYTES;
        assertThat(BytesCodec.check(message, count)).isEqualTo(BytesCodec.Check.Complete.COMPLETE);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("messages")
    void shouldYieldAtEachStep(String kind, int[] unit, Consumer<MemorySegment> reading) throws Exception {
        int length = LENGTH - LENGTH % unit.length;
        MemorySegment message = arena.allocate(length, Integer.BYTES);
        for (int i = 0; i < length; i++) {
            message.set(ValueLayout.JAVA_BYTE, i, (byte) unit[i % unit.length]);
        }
        long before = CooperativeYield.count();
        FutureTask<Void> task = new FutureTask<>(() -> reading.accept(message), null);
        Thread.ofVirtual().start(task);
        task.get();

        assertThat(CooperativeYield.count() - before).as(kind).isGreaterThanOrEqualTo(STEPS - 1);
    }
}
