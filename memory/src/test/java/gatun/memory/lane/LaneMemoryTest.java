// SPDX-License-Identifier: Apache-2.0
package gatun.memory.lane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.lane.SlotLayout.SlotState;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.Arena;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(60)
class LaneMemoryTest {
    private static final LaneGeometry GEOMETRY = new LaneGeometry(4, 8, 4096);
    private static final int LIMIT_SECONDS = 30;

    private final LaneMemory lane = new LaneMemory(Arena.ofAuto().allocate(GEOMETRY.byteSize(), 4096), GEOMETRY);

    /** What the clients in C and Python count on. */
    @Test
    void shouldLayPartsOutAsOtherLanguagesDo() {
        assertThat(SlotLayout.TENSORS).isEqualTo(1280);
        assertThat(SlotLayout.ANSWER_TEXT).isEqualTo(448);
        assertThat(new LaneGeometry(4, 16, 0).slotsOffset()).isEqualTo(4160);
        assertThat(new LaneGeometry(4, 16, 0).slotByteSize()).isEqualTo(1280 + 16 * 128);
        assertThat(new LaneGeometry(4, 16, 0).dataOffset() % 4096).isZero();
        // A lane of the Java client, beside its data.
        assertThat(new LaneGeometry(16, 16, 0).byteSize()).isLessThan(64 << 10);
    }

    @ParameterizedTest
    @CsvSource({"0, 1, 0", "3, 1, 0", "512, 1, 0", "4, 0, 0", "4, 65, 0", "4, 1, -1", "4, 1, 1099511627777"})
    void shouldRefuseOtherGeometry(int slots, int tensors, long dataByteSize) {
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> new LaneGeometry(slots, tensors, dataByteSize))
                .withMessageContaining("expected");
    }

    @ParameterizedTest
    @EnumSource
    void shouldNumberEveryDatatype(Datatype datatype) {
        assertThat(LaneDatatypes.of(LaneDatatypes.number(datatype))).isEqualTo(datatype);
    }

    @Test
    void shouldNumberDatatypesForever() {
        assertThat(LaneDatatypes.number(Datatype.BOOL)).isEqualTo(1);
        assertThat(LaneDatatypes.number(Datatype.FP32)).isEqualTo(12);
        assertThat(LaneDatatypes.number(Datatype.BYTES)).isEqualTo(14);
        assertThat(LaneDatatypes.number(Datatype.FP8_E4M3FN)).isEqualTo(25);
        assertThat(LaneDatatypes.of(26)).isEqualTo(Datatype.INVALID);
        assertThat(LaneDatatypes.of(-1)).isEqualTo(Datatype.INVALID);
    }

    @Test
    void shouldKeepEntriesInOrderAroundTheRing() {
        for (int position = 0; position < 3 * GEOMETRY.ringEntries(); position++) {
            int entry = RingEntry.of(position % 4, RingEntry.CONTINUE, position);
            assertThat(lane.entry(position)).isZero();
            lane.submit(entry);
            assertThat(lane.entry(position)).isEqualTo(entry);
            assertThat(RingEntry.slot(entry)).isEqualTo(position % 4);
            assertThat(RingEntry.command(entry)).isEqualTo(RingEntry.CONTINUE);
            assertThat(RingEntry.turn(entry)).isEqualTo(position);
            lane.clearEntry(position);
        }
        assertThat(RingEntry.turn(RingEntry.of(0, 1, RingEntry.TURNS + 5))).isEqualTo(5);
    }

    @Test
    void shouldWakeTheServer() throws Exception {
        ServerSleep sleep = new ServerSleep();
        CompletableFuture<Integer> found = CompletableFuture.supplyAsync(() -> {
            while (lane.entry(0) == 0) {
                sleep.begin();
                sleep.add(lane);
                if (lane.entry(0) == 0) {
                    sleep.sleep();
                }
            }
            return lane.entry(0);
        });
        lane.submit(RingEntry.of(2, RingEntry.INFER, 9));
        assertThat(found.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo(RingEntry.of(2, RingEntry.INFER, 9));
    }

    @Test
    void shouldEndASleepByAnInterruption() throws Exception {
        ServerSleep sleep = new ServerSleep();
        sleep.begin();
        sleep.add(lane);
        sleep.interrupt();
        CompletableFuture.runAsync(sleep::sleep).get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }

    @Test
    void shouldWakeTheClientByAnAnswerAndByTheEnd() throws Exception {
        for (int state : new int[] {SlotState.DONE, SlotState.LOST}) {
            lane.state(1, SlotState.FILLED);
            CompletableFuture<Integer> found = CompletableFuture.supplyAsync(() -> {
                try (Arena arena = Arena.ofConfined()) {
                    while (lane.state(1) == SlotState.FILLED) {
                        lane.awaitAnswer(1, TimeUnit.SECONDS.toNanos(LIMIT_SECONDS), arena.allocate(16, 8));
                    }
                }
                return lane.state(1);
            });
            if (state == SlotState.DONE) {
                lane.answer(1, state);
            } else {
                lane.lose(1);
            }
            assertThat(found.get(LIMIT_SECONDS, TimeUnit.SECONDS)).isEqualTo(state);
        }
    }
}
