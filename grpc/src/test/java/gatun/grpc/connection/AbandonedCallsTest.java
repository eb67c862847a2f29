// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.grpc.frames.Http2;
import gatun.grpc.frames.Http2Error;
import gatun.runtime.limits.WorkBudgets;
import io.grpc.ServerServiceDefinition;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Clients that give up calls they have begun: those who only do that are cut off, and nobody else is. */
@Timeout(60)
class AbandonedCallsTest {
    /** More than anybody may throw away at once. */
    private static final int MANY = 20_000;

    @RegisterExtension
    final TestResources resources = new TestResources();

    /** No time passes, so that a slow machine gives nothing back. */
    private final WorkBudgets budgets = new WorkBudgets(() -> 0);

    private final TestServer server = resources.add(TestServer.withBudgets(budgets, EchoService.definition()));

    /** Begins calls, each of which {@code call} gives up, until the server ends the connection. */
    private static RawClient.Frame throwAway(RawClient client, IntConsumer call) {
        CompletableFuture<RawClient.Frame> goAway = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                goAway.complete(client.await(frame -> frame.type() == Http2.GOAWAY));
            } catch (UncheckedIOException e) {
                goAway.completeExceptionally(e);
            }
        });
        try {
            for (int i = 0; i < MANY && !goAway.isDone(); i++) {
                call.accept(2 * i + 1);
            }
        } catch (UncheckedIOException e) {
            assertThat(e).as("the server hung up").hasCauseInstanceOf(IOException.class);
        }
        return goAway.join();
    }

    private static void reset(RawClient client, int id) {
        client.frame(Http2.RST_STREAM, 0, id, RawClient.ints(Http2Error.CANCEL.code()));
    }

    private static void wholeCallAndReset(RawClient client, int id) {
        client.call(id, false, "Unary");
        client.message(id, true, (byte) 1);
        reset(client, id);
    }

    @Test
    void shouldCutOffAClientThatResetsItsWholeCalls() throws IOException {
        RawClient client = resources.connect(server);

        assertThat(throwAway(client, id -> wholeCallAndReset(client, id)).isGoAway(Http2Error.ENHANCE_YOUR_CALM))
                .isTrue();
    }

    @Test
    void shouldCutOffAClientThatResetsCallsWithoutAMessage() throws IOException {
        RawClient client = resources.connect(server);

        RawClient.Frame goAway = throwAway(client, id -> {
            client.call(id, false, "Unary");
            reset(client, id);
        });

        assertThat(goAway.isGoAway(Http2Error.ENHANCE_YOUR_CALM)).isTrue();
    }

    @Test
    void shouldCutOffAClientThatResetsItsCallsOnceTheyAreAnswered() throws IOException {
        RawClient client = resources.connect(server);
        int answered = 0;
        boolean cutOff = false;
        for (int id = 1; id < MANY && !cutOff; id += 2) {
            try {
                client.call(id, false, "Unary");
                client.message(id, true, (byte) 1);
                client.await(frame -> frame.type() == Http2.HEADERS && frame.endsStream());
                answered++;
                reset(client, id);
            } catch (UncheckedIOException e) {
                cutOff = true;
            }
        }

        assertThat(cutOff).as("after %d calls", answered).isTrue();
    }

    @Test
    void shouldCutOffNewConnectionsAtOnceThatGoOnThrowingAway() throws IOException {
        RawClient first = resources.connect(server);
        throwAway(first, id -> wholeCallAndReset(first, id));

        RawClient second = resources.connect(server);
        wholeCallAndReset(second, 1);

        assertThat(second.await(frame -> frame.type() == Http2.GOAWAY).isGoAway(Http2Error.ENHANCE_YOUR_CALM))
                .isTrue();
    }

    @Test
    void shouldServeOthersOnThisMachineBesideAClientThatIsCutOff() throws IOException {
        RawClient other = resources.connect(server);
        other.assertEchoes(1);
        RawClient client = resources.connect(server);
        throwAway(client, id -> wholeCallAndReset(client, id));

        wholeCallAndReset(other, 3);

        assertThat(other.isAlive())
                .as("who gives up a call after having finished one")
                .isTrue();
        resources.connect(server).assertEchoes(1);
    }

    @Test
    void shouldLetAClientGiveUpAsMuchAsItFinishes() throws IOException {
        RawClient client = resources.connect(server);

        for (int id = 1; id < MANY; id += 4) {
            client.call(id, false, "Unary");
            client.message(id, true, (byte) 1);
            client.await(frame -> frame.type() == Http2.HEADERS && frame.endsStream());
            wholeCallAndReset(client, id + 2);
        }

        assertThat(client.isAlive()).isTrue();
    }

    @Test
    void shouldCountTheCallsOfConnectionsThatEnd() throws IOException {
        CompletableFuture<Void> cutOff = CompletableFuture.runAsync(() -> {
            for (int connection = 0; connection < MANY; connection++) {
                try (RawClient client = RawClient.connect(server)) {
                    for (int id = 1; id < 200; id += 2) {
                        client.call(id, false, "Unary");
                        client.message(id, false, (byte) 1);
                    }
                    if (!client.isAlive()) {
                        return;
                    }
                    reset(client, 1);
                    if (!client.isAlive()) {
                        return;
                    }
                } catch (UncheckedIOException e) {
                    return;
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            throw new AssertionError("nobody was cut off");
        });

        cutOff.join();
    }

    @Test
    void shouldCutOffAClientThatConnectsForEachCallAndLeavesAtOnce() throws IOException {
        byte[] call = bytes(
                Http2.preface(),
                RawClient.frameBytes(Http2.SETTINGS, 0, 0),
                RawClient.frameBytes(Http2.HEADERS, Http2.FLAG_END_HEADERS, 1, RawClient.callBlock("Unary")),
                RawClient.frameBytes(Http2.DATA, Http2.FLAG_END_STREAM, 1, RawClient.prefixed((byte) 1)));
        int connections = 0;
        while (budgets.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), 1))
                .delay()
                .isZero()) {
            assertThat(connections++)
                    .as("connections that left and owe nothing")
                    .isLessThan(MANY);
            try (RawClient client = RawClient.silent(server)) {
                client.write(call);
            }
        }
    }

    private static ServerServiceDefinition counting(AtomicInteger runs) {
        return EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> {
            runs.incrementAndGet();
            answer.onNext(request);
            answer.onCompleted();
        }));
    }

    private static byte[] bytes(byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    @Test
    void shouldNotRunACallThatIsResetWithItsRequest() throws IOException {
        AtomicInteger runs = new AtomicInteger();
        RawClient client = resources.connect(resources.serve(counting(runs)));

        client.write(bytes(
                RawClient.frameBytes(Http2.HEADERS, Http2.FLAG_END_HEADERS, 1, RawClient.callBlock("Unary")),
                RawClient.frameBytes(Http2.DATA, Http2.FLAG_END_STREAM, 1, RawClient.prefixed((byte) 1)),
                RawClient.frameBytes(Http2.RST_STREAM, 0, 1, RawClient.ints(Http2Error.CANCEL.code()))));
        client.assertEchoes(3);

        assertThat(runs).hasValue(1);
    }
}
