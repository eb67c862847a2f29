// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.http.HttpTimeouts;
import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.RawClient;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How long clients are waited for that keep a connection without using it. */
@Timeout(60)
class HttpTimeoutsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(1);
    private static final long BODY_BYTE_RATE = 1000;

    private static ListenerUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        ListenerUnderTest.writeModel(repository, "floats", 0, "TYPE_FP32 [ -1 ]");
        edge = V2TestServer.startWith(
                repository, settings -> settings.withTimeouts(new HttpTimeouts(TIMEOUT, BODY_BYTE_RATE)));
    }

    @AfterAll
    static void stop() {
        edge.awaitNothingLent();
        edge.close();
    }

    /** Reads to the end of the connection; fails when that does not come within the deadline of a read. */
    private static void awaitEnd(RawClient client) {
        try {
            while (client.readByte() >= 0) {
                // A response may come before the end.
            }
        } catch (UncheckedIOException e) {
            assertThat(e.getCause()).hasMessageContaining("reset");
        }
    }

    @Test
    void shouldEndAConnectionThatSendsNothing() {
        try (RawClient client = new RawClient(edge.port())) {
            awaitEnd(client);
        }
    }

    @Test
    void shouldEndAConnectionWhoseHeadTricklesIn() {
        try (RawClient client = new RawClient(edge.port())) {
            client.sendLines("GET /v2 HTTP/1.1\nHost: h\nX-Slow: ");
            assertThat(nanosUntilEndedWhileSending(client, "x")).isGreaterThanOrEqualTo(TIMEOUT.toNanos());
        }
    }

    @Test
    void shouldEndAConnectionWhoseBodyTricklesIn() {
        try (RawClient client = new RawClient(edge.port())) {
            client.sendLines("POST /v2/models/floats/infer HTTP/1.1\nHost: h\nContent-Length: 10000\n\n");
            assertThat(nanosUntilEndedWhileSending(client, " ")).isGreaterThanOrEqualTo(TIMEOUT.toNanos());
        }
    }

    @Test
    void shouldEndAConnectionWhoseChunksTrickleIn() {
        try (RawClient client = new RawClient(edge.port())) {
            client.sendLines("POST /v2/models/floats/infer HTTP/1.1\nHost: h\nTransfer-Encoding: chunked\n\n");
            assertThat(nanosUntilEndedWhileSending(client, "1\r\n \r\n")).isGreaterThanOrEqualTo(TIMEOUT.toNanos());
        }
    }

    /** Sends {@code piece} again and again, slowly, and tells how long the server has gone along with that. */
    private static long nanosUntilEndedWhileSending(RawClient client, String piece) {
        long begun = System.nanoTime();
        while (true) {
            assertThat(System.nanoTime() - begun)
                    .as("nanoseconds that the client was waited for")
                    .isLessThan(ListenerUnderTest.DEADLINE.toNanos());
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50)); // how slow the client is
            try {
                client.send(piece);
            } catch (UncheckedIOException e) {
                return System.nanoTime() - begun;
            }
        }
    }

    @Test
    void shouldEndAConnectionWhoseBodyStops() {
        try (RawClient client = new RawClient(edge.port())) {
            client.sendLines("POST /v2/models/floats/infer HTTP/1.1\nHost: h\nContent-Length: 100\n\n{\"inputs\"");
            awaitEnd(client);
        }
    }

    @Test
    void shouldKeepAConnectionThatIsUsedNowAndThen() {
        try (RawClient client = new RawClient(edge.port())) {
            for (int i = 0; i < 5; i++) {
                client.sendLines("GET /v2/health/live HTTP/1.1\nHost: h\n\n");
                assertThat(client.read().status()).isEqualTo(200);
                LockSupport.parkNanos(TIMEOUT.toNanos() / 3); // in all longer than the patience
            }
        }
    }
}
