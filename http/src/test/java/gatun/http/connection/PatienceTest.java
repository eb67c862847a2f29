package gatun.http.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.http.EdgeUnderTest;
import gatun.http.RawClient;
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
class PatienceTest {
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private static EdgeUnderTest edge;

    @BeforeAll
    static void start(@TempDir Path repository) {
        EdgeUnderTest.writeModel(repository, "floats", 0, "TYPE_FP32 [ -1 ]");
        edge = EdgeUnderTest.startWith(repository, settings -> settings.withIdleTimeout(PATIENCE));
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
                // An answer may come before the end.
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
            long begun = System.nanoTime();
            boolean ended = false;
            while (!ended) {
                assertThat(System.nanoTime() - begun)
                        .as("nanoseconds that the client was waited for")
                        .isLessThan(EdgeUnderTest.DEADLINE.toNanos());
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50)); // how slow the client is
                try {
                    client.send("x");
                } catch (UncheckedIOException e) {
                    ended = true;
                }
            }
            assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(PATIENCE.toNanos());
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
                LockSupport.parkNanos(PATIENCE.toNanos() / 3); // in all longer than the patience
            }
        }
    }
}
