// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.grpc.connection.ConnectionStreams.ConnectionWindow;
import gatun.grpc.frames.FrameReader.ConnectionBuffers;
import gatun.grpc.frames.FrameWriter;
import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import gatun.grpc.frames.Http2Error.ConnectionError;
import gatun.listener.IoBuffers;
import gatun.listener.Transport;
import gatun.listener.Transport.TransferredBytes;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The receive window of a connection, whatever the windows of its streams allow. */
@Timeout(60)
class ConnectionWindowTest {
    private static final int FRAME = 16_384;
    private static final int SIZE = 65_535;

    /** A client that only reads WINDOW_UPDATE, and not before {@link #read} is called. */
    static final class Client implements Transport {
        private final CountDownLatch written = new CountDownLatch(1);
        private final CountDownLatch reading = new CountDownLatch(1);
        private final BlockingQueue<Integer> increments = new LinkedBlockingQueue<>();

        void read() {
            reading.countDown();
        }

        void awaitWrite() throws InterruptedException {
            assertThat(written.await(20, TimeUnit.SECONDS)).isTrue();
        }

        int nextIncrement() throws InterruptedException {
            Integer increment = increments.poll(20, TimeUnit.SECONDS);
            assertThat(increment).as("a WINDOW_UPDATE within 20 s").isNotNull();
            return increment;
        }

        @Override
        public void writeSome(ByteBuffer[] sources, int first, int end) throws IOException {
            written.countDown();
            try {
                if (!reading.await(20, TimeUnit.SECONDS)) {
                    throw new IOException("nobody reads");
                }
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            for (int i = first; i < end; i++) {
                while (sources[i].hasRemaining()) {
                    sources[i].position(sources[i].position() + Http2.FRAME_HEADER_SIZE);
                    increments.add(sources[i].getInt());
                }
            }
        }

        @Override
        public int read(ByteBuffer target) {
            return -1;
        }

        @Override
        public TransferredBytes transferred() {
            return new TransferredBytes();
        }

        @Override
        public void shutdownOutput() {
            // Nobody waits for the end.
        }

        @Override
        public void close() {
            reading.countDown();
        }
    }

    private final Client client = new Client();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private final FrameWriter writer = new FrameWriter(
            client,
            new ConnectionBuffers(new IoBuffers()),
            Duration.ofMinutes(1),
            Thread.ofVirtual().factory(),
            failure::set);

    @Test
    void shouldTakeAllThatTheClientWasTold() throws InterruptedException {
        ConnectionWindow window = new ConnectionWindow(writer, 4 * SIZE);
        client.read();
        writer.control(window::open);
        long room = SIZE;

        for (int sent = 0; sent < 64 << 20; sent += FRAME) {
            while (room < FRAME) {
                room += client.nextIncrement();
            }
            window.received(FRAME);
            room -= FRAME;
        }

        assertThat(room).isLessThanOrEqualTo(4L * SIZE);
        assertThat(failure.get()).isNull();
    }

    @Test
    void shouldRefuseMoreThanAClientThatDoesNotReadWasTold() throws InterruptedException {
        ConnectionWindow window = new ConnectionWindow(writer, SIZE);
        window.received(2 * FRAME);
        client.awaitWrite();
        window.received(2 * FRAME);
        window.received(SIZE - 2 * FRAME);

        assertThatThrownBy(() -> window.received(1))
                .hasMessage("the connection's window was exceeded")
                .asInstanceOf(InstanceOfAssertFactories.type(ConnectionError.class))
                .extracting(ConnectionError::error)
                .isEqualTo(Http2Error.FLOW_CONTROL_ERROR);
        client.read();
        assertThat(client.nextIncrement()).isEqualTo(2 * FRAME);
    }
}
