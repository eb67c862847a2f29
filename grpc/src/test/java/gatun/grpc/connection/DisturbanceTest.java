// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients that give up, leave and come back, many at a time: others are served and nothing is left behind. */
@Timeout(120)
class DisturbanceTest {
    private static final int CLIENTS = 6;

    private static void runAll(Callable<Void> client) throws InterruptedException, ExecutionException {
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<Void>> ends = new ArrayList<>();
            for (int i = 0; i < CLIENTS; i++) {
                ends.add(threads.submit(client));
            }
            for (Future<Void> end : ends) {
                end.get();
            }
        }
    }

    @Test
    void shouldServeOneConnectionWhoseCallsAreGivenUpAtAnyMoment() throws Exception {
        try (TestServer server = TestServer.start(EchoService.definition())) {
            ManagedChannel channel = server.channel();
            AtomicInteger seed = new AtomicInteger();
            AtomicInteger answered = new AtomicInteger();
            AtomicInteger givenUp = new AtomicInteger();

            runAll(() -> {
                Random random = new Random(seed.incrementAndGet());
                for (int i = 0; i < 150; i++) {
                    byte[] message = new byte[random.nextInt(300_000)];
                    try {
                        byte[] answer = ClientCalls.blockingUnaryCall(
                                channel,
                                EchoService.UNARY,
                                CallOptions.DEFAULT.withDeadlineAfter(random.nextInt(1, 12_000), TimeUnit.MICROSECONDS),
                                message);
                        assertThat(answer).hasSize(message.length);
                        answered.incrementAndGet();
                    } catch (StatusRuntimeException e) {
                        assertThat(e.getStatus().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
                        givenUp.incrementAndGet();
                    }
                }
                return null;
            });

            assertThat(ClientCalls.blockingUnaryCall(
                            channel, EchoService.UNARY, CallOptions.DEFAULT, new byte[1 << 20]))
                    .hasSize(1 << 20);
            assertThat(givenUp).hasPositiveValue();
            server.awaitNothingLent();
            channel.shutdownNow();
        }
    }

    @Test
    void shouldSurviveClientsThatLeaveInTheMiddleOfStreams() throws Exception {
        try (TestServer server = TestServer.start(EchoService.definition())) {
            AtomicInteger seed = new AtomicInteger();

            runAll(() -> {
                Random random = new Random(seed.incrementAndGet());
                for (int i = 0; i < 12; i++) {
                    ManagedChannel channel = server.channel();
                    for (int s = 0; s < 4; s++) {
                        StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(
                                channel.newCall(EchoService.BIDI, CallOptions.DEFAULT), new Deaf());
                        for (int m = random.nextInt(8); m > 0; m--) {
                            requests.onNext(new byte[random.nextInt(1 << 20)]);
                        }
                    }
                    assertThat(ClientCalls.blockingUnaryCall(
                                    channel, EchoService.UNARY, CallOptions.DEFAULT, new byte[1000]))
                            .hasSize(1000);
                    channel.shutdownNow();
                }
                return null;
            });

            server.awaitNothingLent();
        }
    }

    private static final class Deaf implements StreamObserver<byte[]> {
        @Override
        public void onNext(byte[] message) {
            // Not of interest.
        }

        @Override
        public void onError(Throwable t) {
            // Expected: the client leaves.
        }

        @Override
        public void onCompleted() {
            // Does not happen.
        }
    }
}
