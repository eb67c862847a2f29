// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.ReceivedMessages;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
class StreamingCallTest {
    @RegisterExtension
    final TestResources resources = new TestResources();

    @Test
    void shouldJoinWhatAClientStreams() throws Exception {
        ManagedChannel channel = resources.channel(resources.serve(EchoService.definition()));
        ReceivedMessages<byte[]> answers = new ReceivedMessages<>();
        StreamObserver<byte[]> requests =
                ClientCalls.asyncClientStreamingCall(channel.newCall(EchoService.JOIN, CallOptions.DEFAULT), answers);

        requests.onNext(new byte[] {1, 2});
        requests.onNext(new byte[0]);
        requests.onNext(new byte[] {3});
        requests.onCompleted();

        assertThat(answers.next()).containsExactly(1, 2, 3);
        assertThat(answers.end().isOk()).isTrue();
    }

    @Test
    void shouldStreamAnswersToAClient() {
        ManagedChannel channel = resources.channel(resources.serve(EchoService.definition()));

        Iterator<byte[]> answers = ClientCalls.blockingServerStreamingCall(
                channel, EchoService.REPEAT, CallOptions.DEFAULT, new byte[] {7});

        int count = 0;
        while (answers.hasNext()) {
            assertThat(answers.next()).containsExactly(7);
            count++;
        }
        assertThat(count).isEqualTo(EchoService.REPETITIONS);
    }

    @Test
    void shouldAnswerEachMessageOfABidirectionalStreamAsItComes() throws Exception {
        TestServer server = resources.serve(EchoService.definition());
        ReceivedMessages<byte[]> answers = new ReceivedMessages<>();
        StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(
                resources.channel(server).newCall(EchoService.BIDI, CallOptions.DEFAULT), answers);

        for (int i = 0; i < 200; i++) {
            byte[] message = new byte[i];
            Arrays.fill(message, (byte) i);
            requests.onNext(message);
            assertThat(answers.next()).isEqualTo(message);
        }
        requests.onCompleted();

        assertThat(answers.end().isOk()).isTrue();
        assertThat(server.lentBytes()).isZero();
    }

    @Test
    void shouldNotDeadlockWhenBothSidesSendMuch() throws Exception {
        TestServer server = resources.serve(EchoService.definition());
        ManagedChannel channel = resources.channel(server);
        int streams = 16;
        int messages = 12;
        List<ReceivedMessages<byte[]>> collectors = new ArrayList<>();
        for (int s = 0; s < streams; s++) {
            ReceivedMessages<byte[]> answers = new ReceivedMessages<>();
            collectors.add(answers);
            StreamObserver<byte[]> requests =
                    ClientCalls.asyncBidiStreamingCall(channel.newCall(EchoService.BIDI, CallOptions.DEFAULT), answers);
            for (int m = 0; m < messages; m++) {
                byte[] message = new byte[1 << 20];
                message[0] = (byte) s;
                message[message.length - 1] = (byte) m;
                requests.onNext(message);
            }
            requests.onCompleted();
        }

        for (int s = 0; s < streams; s++) {
            for (int m = 0; m < messages; m++) {
                byte[] answer = collectors.get(s).next();
                assertThat(answer).hasSize(1 << 20);
                assertThat(answer[0]).isEqualTo((byte) s);
                assertThat(answer[answer.length - 1]).isEqualTo((byte) m);
            }
            assertThat(collectors.get(s).end().isOk()).isTrue();
        }
        assertThat(server.lentBytes()).isZero();
    }

    @Test
    void shouldGiveTheHandlerAsManyMessagesAsItRequests() throws Exception {
        AtomicInteger received = new AtomicInteger();
        BlockingQueue<ServerCall<byte[], byte[]>> calls = new LinkedBlockingQueue<>();
        CountDownLatch three = new CountDownLatch(3);
        CountDownLatch five = new CountDownLatch(5);
        TestServer server = resources.serve(EchoService.of(EchoService.BIDI, (call, headers) -> {
            calls.add(call);
            call.request(3);
            return new ServerCall.Listener<>() {
                @Override
                public void onMessage(byte[] message) {
                    received.incrementAndGet();
                    three.countDown();
                    five.countDown();
                }
            };
        }));
        StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(
                resources.channel(server).newCall(EchoService.BIDI, CallOptions.DEFAULT), new ReceivedMessages<>());

        for (int i = 0; i < 10; i++) {
            requests.onNext(new byte[] {(byte) i});
        }
        assertThat(three.await(20, TimeUnit.SECONDS)).isTrue();
        ServerCall<byte[], byte[]> call = calls.poll(20, TimeUnit.SECONDS);
        assertThat(received).hasValue(3);
        call.request(2);

        assertThat(five.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(received).hasValue(5);
    }

    @Test
    void shouldSayWhenAHandlerMustWaitAndWhenItNeedNotAnyMore() throws Exception {
        CountDownLatch notReady = new CountDownLatch(1);
        CompletableFuture<Integer> sentAtFirst = new CompletableFuture<>();
        int total = 400;
        TestServer server = resources.serve(EchoService.of(EchoService.REPEAT, (call, headers) -> {
            call.request(2);
            call.sendHeaders(new Metadata());
            AtomicInteger sent = new AtomicInteger();
            return new ServerCall.Listener<>() {
                @Override
                public void onReady() {
                    while (call.isReady() && sent.get() < total) {
                        call.sendMessage(new byte[10_000]);
                        sent.incrementAndGet();
                    }
                    if (sent.get() == total) {
                        call.close(Status.OK, new Metadata());
                    } else {
                        sentAtFirst.complete(sent.get());
                        notReady.countDown();
                    }
                }
            };
        }));
        ClientCall<byte[], byte[]> call = resources.channel(server).newCall(EchoService.REPEAT, CallOptions.DEFAULT);
        AtomicInteger received = new AtomicInteger();
        CompletableFuture<Status> end = new CompletableFuture<>();
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(byte[] message) {
                        received.incrementAndGet();
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        end.complete(status);
                    }
                },
                new Metadata());
        call.sendMessage(new byte[0]);
        call.halfClose();

        assertThat(notReady.await(20, TimeUnit.SECONDS)).isTrue();
        assertThat(sentAtFirst.get()).isBetween(1, total - 1);
        call.request(Integer.MAX_VALUE);

        assertThat(end.get(20, TimeUnit.SECONDS).isOk()).isTrue();
        assertThat(received).hasValue(total);
    }

    @Test
    void shouldHoldBackOnlyTheStreamOfAClientThatStopsReading() throws Exception {
        TestServer server = resources.serve(EchoService.definition());
        ManagedChannel channel = resources.channel(server);
        ClientCall<byte[], byte[]> stuck = channel.newCall(EchoService.BIDI, CallOptions.DEFAULT);
        CountDownLatch sendBlocked = new CountDownLatch(1);
        stuck.start(new ClientCall.Listener<>() {}, new Metadata());
        Thread sender = Thread.ofVirtual().start(() -> {
            // The client takes no response, so it may send no more at some point.
            for (int i = 0; i < 100 && stuck.isReady(); i++) {
                stuck.sendMessage(new byte[1 << 20]);
            }
            sendBlocked.countDown();
        });
        assertThat(sendBlocked.await(20, TimeUnit.SECONDS)).isTrue();

        for (int i = 0; i < 50; i++) {
            assertThat(ClientCalls.blockingUnaryCall(
                            channel, EchoService.UNARY, CallOptions.DEFAULT, new byte[100_000]))
                    .hasSize(100_000);
        }

        assertThat(server.lentBytes()).isLessThan(8 << 20);
        stuck.cancel("enough", null);
        sender.join();
        server.awaitNothingLent();
    }

    @Test
    void shouldCancelCallsOfAClientThatDisconnects() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
        TestServer server = resources.serve(EchoService.of(EchoService.BIDI, (call, headers) -> {
            call.request(1);
            begun.countDown();
            return new ServerCall.Listener<>() {
                @Override
                public void onCancel() {
                    cancelled.complete(call.isCancelled());
                }
            };
        }));
        ManagedChannel channel = resources.channel(server);
        StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(
                channel.newCall(EchoService.BIDI, CallOptions.DEFAULT), new ReceivedMessages<>());
        requests.onNext(new byte[1000]);
        requests.onNext(new byte[1000]);
        assertThat(begun.await(20, TimeUnit.SECONDS)).isTrue();

        channel.shutdownNow();

        assertThat(cancelled.get(20, TimeUnit.SECONDS)).isTrue();
        server.awaitNothingLent();
    }

    @Test
    void shouldEndAStreamBeforeTheClientDoes() throws Exception {
        TestServer server = resources.serve(EchoService.of(EchoService.BIDI, (call, headers) -> {
            call.request(1);
            return new ServerCall.Listener<>() {
                @Override
                public void onMessage(byte[] message) {
                    call.close(Status.ABORTED.withDescription("seen enough"), new Metadata());
                }
            };
        }));
        ManagedChannel channel = resources.channel(server);
        for (int i = 0; i < 20; i++) {
            ReceivedMessages<byte[]> answers = new ReceivedMessages<>();
            StreamObserver<byte[]> requests =
                    ClientCalls.asyncBidiStreamingCall(channel.newCall(EchoService.BIDI, CallOptions.DEFAULT), answers);
            requests.onNext(new byte[100_000]);
            requests.onNext(new byte[100_000]);

            assertThat(answers.end().getCode()).isEqualTo(Status.Code.ABORTED);
            assertThat(answers.end().getDescription()).isEqualTo("seen enough");
        }
        server.awaitNothingLent();
    }
}
