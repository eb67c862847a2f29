// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.grpc.frames.FrameReader.ConnectionBuffers;
import gatun.grpc.frames.FrameWriter;
import gatun.listener.IoBuffers;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class FrameWriterTest {
    /** Leaves less room in a new batch than a task may need. */
    private static final byte[] LONG_HEADERS = new byte[2000];

    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final FrameWriter writer = new FrameWriter(
            new ConnectionWindowTest.Client(), // which is written nothing here
            new ConnectionBuffers(new IoBuffers()),
            Duration.ofMinutes(1),
            Thread.ofVirtual().factory(),
            failure::set);

    /** Threads that wrote for the connection once turned in circles for ever, two of them with two cores. */
    @Test
    void shouldDropTasksOnceItHasFailedWithAFullBatch() {
        writer.enqueue(present -> {
            present.frames().headers(1, LONG_HEADERS, false);
            throw new IllegalStateException("broken");
        });
        assertThat(failure.get()).hasMessage("broken");

        writer.enqueue(present -> {});

        assertThat(writer.waiting()).isZero();
    }
}
