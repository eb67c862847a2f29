// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.Tuning;
import gatun.workers.SharedMemoryChannel.Turn;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Both sides of a mailbox in one process. */
@Timeout(60)
class SharedMemoryChannelTest {
    private final SharedMemoryChannels mailboxes = SharedMemoryChannels.create();
    private final SharedMemoryChannel server = mailboxes.mailbox(SharedMemoryChannels.MOST - 1, 0, Tuning.OFF);
    private final SharedMemoryChannel worker = mailboxes.mailbox(SharedMemoryChannels.MOST - 1, 0, Tuning.OFF);

    @AfterEach
    void close() {
        Path file = mailboxes.file().path();
        mailboxes.close();
        worker.close();
        assertThat(file).as("while one side uses it").exists();
        server.close();
        assertThat(file).doesNotExist();
    }

    @Test
    void shouldTakeTurnsUntilTheServerEndsIt() {
        CompletableFuture<Integer> work = CompletableFuture.supplyAsync(() -> {
            int runs = 0;
            while (worker.awaitWorker() == Turn.RUN) {
                int number = worker.frame().u32();
                assertThat(worker.post(Turn.MORE, frame -> frame.u32(number + 1)))
                        .isTrue();
                assertThat(worker.awaitWorker()).isEqualTo(Turn.GO_ON);
                assertThat(worker.post(Turn.DONE, frame -> frame.u32(number + 2)))
                        .isTrue();
                runs++;
            }
            return runs;
        });
        for (int i = 0; i < 2000; i++) {
            int number = i;
            assertThat(server.post(Turn.RUN, frame -> frame.u32(number))).isTrue();
            assertThat(server.awaitServer(0)).isEqualTo(Turn.MORE);
            assertThat(server.frame().u32()).isEqualTo(i + 1);
            assertThat(server.post(Turn.GO_ON, frame -> {})).isTrue();
            assertThat(server.awaitServer(0)).isEqualTo(Turn.DONE);
            assertThat(server.frame().u32()).isEqualTo(i + 2);
        }
        server.end();
        assertThat(work.join()).isEqualTo(2000);
        assertThat(server.post(Turn.RUN, frame -> {})).isFalse();
        assertThat(worker.post(Turn.DONE, frame -> {})).isFalse();
    }

    @Test
    void shouldWaitNoLongerThanItIsTold() {
        assertThat(server.post(Turn.RUN, frame -> {})).isTrue();
        assertThat(server.awaitServer(TimeUnit.MILLISECONDS.toNanos(20))).isEqualTo(Turn.IDLE);
        assertThat(worker.awaitWorker()).isEqualTo(Turn.RUN);
    }

    @Test
    void shouldWakeAWaitingServerWhenItEnds() {
        assertThat(server.post(Turn.RUN, frame -> {})).isTrue();
        CompletableFuture<Turn> turn = CompletableFuture.supplyAsync(() -> server.awaitServer(0));
        server.end();
        assertThat(turn.join()).isEqualTo(Turn.ENDED);
    }

    @Test
    void shouldTellThatARunIsWantedNoMore() {
        assertThat(worker.isAskedToStop()).isFalse();
        server.askToStop(true);
        assertThat(worker.isAskedToStop()).isTrue();
        server.askToStop(false);
        assertThat(worker.isAskedToStop()).isFalse();
    }

    @Test
    void shouldRefuseAFrameThatIsTooLongAndKeepTheTurn() {
        String longText = "x".repeat(2 << 20);
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> server.post(Turn.RUN, frame -> frame.text(longText)))
                .withMessageContaining("the names, shapes and parameters of a run have 20971")
                .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.RESOURCE_EXHAUSTED));
        assertThat(server.post(Turn.RUN, frame -> frame.text("short"))).isTrue();
        assertThat(worker.awaitWorker()).isEqualTo(Turn.RUN);
        assertThat(worker.frame().text()).isEqualTo("short");
    }
}
