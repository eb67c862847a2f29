// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.http.HttpTimeouts;
import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.connection.Routes;
import gatun.http.routes.RouteTable;
import gatun.protocol.Protocol;
import gatun.protocol.testing.ListenerUnderTest;
import gatun.protocol.testing.RawClient;
import gatun.protocol.testing.TestServerSettings;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Connections whose short requests are answered by the thread that reads those of many. */
@Timeout(120)
class SharedReaderTest {
    private static final ResponseHeaders TEXT =
            ResponseHeaders.of(ResponseHeaders.constant("Content-Type: text/plain"));
    private static final Duration IDLE_TIMEOUT = Duration.ofSeconds(5); // others may take a while until they are lent
    private static final int LARGE_BYTES = 32 << 20;
    private static final MemorySegment LARGE = Arena.global().allocate(LARGE_BYTES);
    private static final String ASK = "GET /thread HTTP/1.1\nHost: h\n\n";
    private static final String WAIT = "GET /wait HTTP/1.1\nHost: h\n\n";

    private final CountDownLatch mayEnd = new CountDownLatch(1);

    private final List<RawClient> clients = new ArrayList<>();
    private ListenerUnderTest edge;

    @TempDir
    private Path repository;

    @BeforeEach
    void start() {
        start(TestServerSettings.usual());
    }

    private void start(TestServerSettings settings) {
        edge = ListenerUnderTest.start(repository, settings, List.of((server, asked) -> new Protocol() {
            @Override
            public RouteTable table() {
                throw new UnsupportedOperationException("its routes have no table");
            }

            @Override
            public Routes http() {
                return SharedReaderTest.this::answer;
            }
        }));
    }

    @AfterEach
    void stop() {
        mayEnd.countDown();
        clients.forEach(RawClient::close);
        edge.close();
    }

    /** Answers with whose thread it is on. */
    private boolean answer(Exchange exchange) {
        switch (exchange.path()) {
            case "/thread" -> {}
            case "/wait" -> {
                try {
                    mayEnd.await();
                } catch (InterruptedException e) {
                    throw new AssertionError(e);
                }
            }
            case "/large" -> {
                exchange.answer(TEXT, exchange.json(TEXT), new MemorySegment[] {LARGE}, 1);
                return true;
            }
            default -> {
                return false;
            }
        }
        exchange.answer(TEXT, exchange.json(TEXT).raw(Thread.currentThread().isVirtual() ? "its own" : "shared"));
        return true;
    }

    /** A client whose requests the shared reader answers. */
    private RawClient lent() {
        RawClient client = new RawClient(edge.port());
        clients.add(client);
        awaitLent(client);
        return client;
    }

    private static void awaitLent(RawClient client) {
        long begun = System.nanoTime();
        while (!askedThread(client).equals("shared")) {
            assertThat(System.nanoTime() - begun)
                    .as("nanoseconds without a request on a shared reader")
                    .isLessThan(3 * ListenerUnderTest.DEADLINE.toNanos());
        }
    }

    private static String askedThread(RawClient client) {
        return client.sendLines(ASK).read().text();
    }

    @Test
    void shouldAnswerShortRequestsOneAfterTheOther() {
        RawClient client = lent();
        assertThat(client.sendLines(ASK + ASK + ASK).read().status()).isEqualTo(200);
        assertThat(client.read().status()).isEqualTo(200);
        assertThat(client.read().status()).isEqualTo(200);
    }

    @Test
    void shouldAnswerEachRequestOfManyClientsWhateverComesTogether() throws InterruptedException {
        int rounds = 300;
        ConcurrentLinkedQueue<Integer> statuses = new ConcurrentLinkedQueue<>();
        List<Thread> threads = new ArrayList<>();
        for (int seed = 0; seed < 16; seed++) {
            RawClient client = new RawClient(edge.port());
            clients.add(client);
            Random random = new Random(seed);
            threads.add(Thread.ofPlatform().start(() -> {
                for (int i = 0; i < rounds; i++) {
                    String two = ASK + ASK;
                    int first = random.nextInt(4) > 0 ? two.length() : 1 + random.nextInt(two.length() - 1);
                    client.sendLines(two.substring(0, first));
                    if (first < two.length()) {
                        client.sendLines(two.substring(first));
                    }
                    statuses.add(client.read().status());
                    statuses.add(client.read().status());
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(statuses).hasSize(2 * rounds * threads.size()).containsOnly(200);
    }

    @Test
    void shouldLeaveARequestInPiecesToTheConnectionsOwnThread() {
        RawClient client = lent();
        client.sendLines("GET /thread HTTP/1.1\nHo");
        // The first piece alone is read before the second comes, or both are read at once: what counts is the answer.
        assertThat(client.sendLines("st: h\n\n").read().status()).isEqualTo(200);
        awaitLent(client);
    }

    @Test
    void shouldLeaveAPathThatNoRouteKnowsToTheConnectionsOwnThread() {
        RawClient client = lent();
        assertThat(client.sendLines("GET /unknown HTTP/1.1\nHost: h\n\n").read().status())
                .isEqualTo(404);
        assertThat(client.sendLines(ASK).read().status()).isEqualTo(200);
    }

    @Test
    void shouldServeOthersWhileRequestsLast() {
        // More than there are readers, and than may last at a time beside them.
        int many = 6 * Runtime.getRuntime().availableProcessors();
        List<RawClient> lasting = new ArrayList<>();
        for (int i = 0; i < many; i++) {
            lasting.add(lent());
        }
        RawClient other = lent();
        for (RawClient client : lasting) {
            client.sendLines(WAIT);
            assertThat(other.sendLines(ASK).read().status()).isEqualTo(200);
        }
        mayEnd.countDown();
        for (RawClient client : lasting) {
            assertThat(client.read().status()).isEqualTo(200);
            assertThat(client.sendLines(ASK).read().status()).isEqualTo(200);
        }
    }

    @Test
    void shouldServeOthersWhileAClientDoesNotReadItsResponse() {
        List<RawClient> others = new ArrayList<>();
        RawClient slow = lent();
        slow.sendLines("GET /large HTTP/1.1\nHost: h\n\n");
        for (int i = 0; i < 2 * Runtime.getRuntime().availableProcessors(); i++) {
            others.add(lent());
        }
        assertThat(slow.read().body()).hasSize(LARGE_BYTES);
        assertThat(slow.sendLines(ASK).read().status()).isEqualTo(200);
        others.forEach(
                client -> assertThat(client.sendLines(ASK).read().status()).isEqualTo(200));
    }

    @Test
    void shouldAnswerMoreRequestsThanAreReadAtATime() {
        RawClient client = lent();
        int many = 3000;
        client.sendLines(ASK.repeat(many));
        for (int i = 0; i < many; i++) {
            assertThat(client.read().status()).isEqualTo(200);
        }
    }

    @Test
    void shouldServeAClientWhileOthersAlwaysSend() throws InterruptedException {
        AtomicBoolean isOver = new AtomicBoolean();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 4 * Runtime.getRuntime().availableProcessors(); i++) {
            RawClient flooding = lent();
            threads.add(Thread.ofPlatform().start(() -> {
                flooding.sendLines(ASK.repeat(100));
                while (!isOver.get()) {
                    flooding.sendLines(ASK);
                    flooding.read();
                }
            }));
        }
        RawClient other = lent();
        for (int i = 0; i < 100; i++) {
            assertThat(other.sendLines(ASK).read().status()).isEqualTo(200);
        }
        isOver.set(true);
        for (Thread thread : threads) {
            thread.join();
        }
    }

    @Test
    void shouldEndConnectionsThatSendNothing() {
        edge.close();
        start(TestServerSettings.usual().withTimeouts(new HttpTimeouts(IDLE_TIMEOUT, 0)));
        assertThat(lent().readByte()).isEqualTo(-1);
    }

    @Test
    void shouldServeOnAfterClientsHaveLeft() {
        lent().reset();
        lent().close();
        RawClient halfClosed = lent();
        assertThat(halfClosed.sendLines(ASK).endOutput().read().status()).isEqualTo(200);
        assertThat(halfClosed.readByte()).isEqualTo(-1);
        lent();
    }

    @Test
    void shouldEndConnectionsWithTheListener() {
        RawClient client = lent();
        edge.close();
        assertThat(client.readByte()).isEqualTo(-1);
    }
}
