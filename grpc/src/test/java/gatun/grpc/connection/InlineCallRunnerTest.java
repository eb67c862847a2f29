// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.ListenableFuture;
import gatun.grpc.frames.Http2;
import io.grpc.CallOptions;
import io.grpc.Context;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls that come one at a time run on the thread that reads the connection, and keep nobody from being heard. */
@Timeout(60)
class InlineCallRunnerTest {
    /** More calls than a connection is watched for. */
    private static final int CALLS = 16;

    private static final byte[] PLAIN = {0};

    /** A message whose call waits until it may go on. */
    private static final byte[] LASTING = {1};

    /** The threads of the calls so far. */
    private final List<Thread> threads = new CopyOnWriteArrayList<>();

    private final Semaphore lasting = new Semaphore(0);
    private final Semaphore mayGoOn = new Semaphore(0);
    private final CountDownLatch cancelled = new CountDownLatch(1);
    private TestServer server;

    @BeforeEach
    void start() {
        server = TestServer.start(EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall(this::answer)));
    }

    @AfterEach
    void stop() {
        mayGoOn.release(CALLS);
        server.awaitNothingLent();
        server.close();
    }

    private void answer(byte[] request, StreamObserver<byte[]> answer) {
        threads.add(Thread.currentThread());
        if (request.length == 1 && request[0] == LASTING[0]) {
            Context.current().addListener(ignored -> cancelled.countDown(), Runnable::run);
            lasting.release();
            mayGoOn.acquireUninterruptibly();
        }
        answer.onNext(request);
        answer.onCompleted();
    }

    private static void callOneAtATime(ManagedChannel channel) {
        for (int i = 0; i < CALLS; i++) {
            assertThat(EchoService.echo(channel, PLAIN)).isEqualTo(PLAIN);
        }
    }

    private static void callOneAtATime(RawClient client, int firstStream) {
        for (int i = 0; i < CALLS; i++) {
            call(client, firstStream + 2 * i, PLAIN);
            client.await(frame -> frame.type() == Http2.HEADERS && frame.endsStream());
        }
    }

    private static void call(RawClient client, int stream, byte[] message) {
        client.call(stream, false, "Unary");
        client.message(stream, true, message);
    }

    /** A call that lasts, and runs on the reading thread. */
    private ListenableFuture<byte[]> beginLasting(ManagedChannel channel) throws InterruptedException {
        callOneAtATime(channel);
        ListenableFuture<byte[]> call =
                ClientCalls.futureUnaryCall(channel.newCall(EchoService.UNARY, CallOptions.DEFAULT), LASTING);
        lasting.acquire();
        return call;
    }

    @Test
    void shouldRunCallsThatComeOneAtATimeOnTheReadingThread() {
        ManagedChannel channel = server.channel();

        callOneAtATime(channel);

        assertThat(Set.copyOf(threads.subList(CALLS / 2, CALLS))).hasSize(1);
        channel.shutdownNow();
    }

    @Test
    void shouldRunThemThereThoughWindowUpdatesComeWithThem() throws IOException {
        try (RawClient client = RawClient.connect(server)) {
            for (int i = 0; i < CALLS; i++) {
                int stream = 1 + 2 * i;
                byte[] message = RawClient.prefixed(PLAIN);
                byte[] update = RawClient.ints(1000);
                client.call(stream, false, "Unary");
                client.write(ByteBuffer.allocate(2 * Http2.FRAME_HEADER_SIZE + message.length + update.length)
                        .putInt(message.length << 8 | Http2.DATA)
                        .put((byte) Http2.FLAG_END_STREAM)
                        .putInt(stream)
                        .put(message)
                        .putInt(update.length << 8 | Http2.WINDOW_UPDATE)
                        .put((byte) 0)
                        .putInt(0)
                        .put(update)
                        .array());
                client.await(frame -> frame.type() == Http2.HEADERS && frame.endsStream());
            }
        }

        assertThat(Set.copyOf(threads.subList(CALLS / 2, CALLS))).hasSize(1);
    }

    @Test
    void shouldServeOtherCallsWhileOneLasts() throws Exception {
        ManagedChannel channel = server.channel();
        ListenableFuture<byte[]> lastingCall = beginLasting(channel);

        callOneAtATime(channel);

        mayGoOn.release();
        assertThat(lastingCall.get()).isEqualTo(LASTING);
        callOneAtATime(channel);
        channel.shutdownNow();
    }

    @Test
    void shouldTellACallThatLastsThatItsClientHasLeft() throws Exception {
        ManagedChannel channel = server.channel();
        ListenableFuture<byte[]> lastingCall = beginLasting(channel);

        channel.shutdownNow();

        assertThat(cancelled.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(lastingCall).failsWithin(20, TimeUnit.SECONDS);
    }

    @Test
    void shouldTellACallThatLastsThatItIsCancelled() throws Exception {
        ManagedChannel channel = server.channel();
        ListenableFuture<byte[]> lastingCall = beginLasting(channel);

        lastingCall.cancel(true);

        assertThat(cancelled.await(20, TimeUnit.SECONDS)).isTrue();
        mayGoOn.release();
        callOneAtATime(channel);
        channel.shutdownNow();
    }

    @Test
    void shouldAnswerPingsWhileACallLasts() throws Exception {
        try (RawClient client = RawClient.connect(server)) {
            callOneAtATime(client, 1);
            call(client, 101, LASTING);
            lasting.acquire();

            assertThat(client.isAlive()).isTrue();
        }
    }

    @Test
    void shouldHearOfRoomForAResponseThatDidNotFit() throws IOException {
        byte[] large = EchoService.random(3 * Http2.DEFAULT_WINDOW_SIZE);
        try (RawClient client = RawClient.connect(server)) {
            callOneAtATime(client, 1);
            client.windowUpdate(0, 2 * large.length);
            call(client, 101, large);
            client.await(frame -> frame.type() == Http2.DATA && frame.streamId() == 101);

            client.windowUpdate(101, large.length);

            RawClient.Frame end = client.await(frame -> frame.type() == Http2.HEADERS && frame.endsStream());
            assertThat(end.streamId()).isEqualTo(101);
        }
    }

    @Test
    void shouldRunCallsApartOnceTheyComeTogether() throws Exception {
        try (RawClient client = RawClient.connect(server)) {
            callOneAtATime(client, 1);
            assertThat(Set.copyOf(threads.subList(CALLS / 2, CALLS))).hasSize(1);
            threads.clear();

            int stream = 101;
            call(client, stream, LASTING);
            for (int i = 0; i < 4 * CALLS; i++) {
                lasting.acquire();
                stream += 2;
                call(client, stream, LASTING); // the one before has not been answered yet
                mayGoOn.release();
            }

            assertThat(Set.copyOf(threads.subList(2 * CALLS, 4 * CALLS))).hasSize(2 * CALLS);
        }
    }

    @Test
    void shouldFinishALastingCallWhenTheServerStops() throws Exception {
        ManagedChannel channel = server.channel();
        ListenableFuture<byte[]> lastingCall = beginLasting(channel);
        Thread stopping = Thread.ofVirtual().start(server::stop);

        mayGoOn.release();

        assertThat(lastingCall.get()).isEqualTo(LASTING);
        stopping.join();
        channel.shutdownNow();
    }
}
