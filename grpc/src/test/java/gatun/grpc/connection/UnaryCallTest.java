// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.grpc.calls.GrpcCall;
import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.ServerCalls;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class UnaryCallTest {
    private static final Metadata.Key<String> TEXT = Metadata.Key.of("test-text", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<byte[]> BINARY = Metadata.Key.of("test-bin", Metadata.BINARY_BYTE_MARSHALLER);

    @RegisterExtension
    final TestResources resources = new TestResources();

    private static StatusRuntimeException failure(Runnable call) {
        return catchThrowableOfType(StatusRuntimeException.class, call::run);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 100, 16_383, 65_535, 65_536, 300_000, 5 << 20, 17 << 20})
    void shouldAnswerWithWhatWasSent(int size) {
        TestServer server = resources.serve(EchoService.definition());
        byte[] message = EchoService.random(size);

        assertThat(EchoService.echo(resources.channel(server), message)).isEqualTo(message);
        assertThat(server.lentBytes()).isZero();
    }

    @Test
    void shouldAnswerManyCallsAtOnceOnOneConnection() throws Exception {
        TestServer server = resources.serve(EchoService.definition());
        ManagedChannel channel = resources.channel(server);
        List<Future<byte[]>> answers = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            answers.add(ClientCalls.futureUnaryCall(
                    channel.newCall(EchoService.UNARY, CallOptions.DEFAULT), EchoService.random(i * 37)));
        }

        for (int i = 0; i < answers.size(); i++) {
            assertThat(answers.get(i).get(30, TimeUnit.SECONDS)).isEqualTo(EchoService.random(i * 37));
        }
        assertThat(server.lentBytes()).isZero();
    }

    @Test
    void shouldAnswerUnimplementedToAnUnknownMethod() {
        MethodDescriptor<byte[], byte[]> unknown = EchoService.method("Nothing", MethodType.UNARY);
        ManagedChannel channel = resources.channel(resources.serve(EchoService.definition()));

        StatusRuntimeException failure =
                failure(() -> ClientCalls.blockingUnaryCall(channel, unknown, CallOptions.DEFAULT, new byte[3]));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED);
        assertThat(failure.getStatus().getDescription()).isEqualTo("Method not found: test.Echo/Nothing");
    }

    @Test
    void shouldAnswerUnknownWhenTheHandlerThrows() {
        ManagedChannel channel = resources.channel(
                resources.serve(EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> {
                    throw new IllegalStateException("a fault of the handler");
                }))));

        StatusRuntimeException failure = failure(() -> EchoService.echo(channel, new byte[3]));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.UNKNOWN);
        assertThat(failure.getStatus().getDescription()).doesNotContain("a fault of the handler");
    }

    @Test
    void shouldCarryAStatusTextOfAnyCharacters() {
        String text = " 100 % wrong:\n\"größer\" — 大きい \u0001 ";
        ManagedChannel channel = resources.channel(resources.serve(EchoService.of(
                EchoService.UNARY,
                ServerCalls.asyncUnaryCall((request, answer) -> answer.onError(
                        Status.FAILED_PRECONDITION.withDescription(text).asRuntimeException())))));

        StatusRuntimeException failure = failure(() -> EchoService.echo(channel, new byte[3]));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(failure.getStatus().getDescription()).isEqualTo(text);
    }

    @Test
    void shouldCarryBinaryAndRepeatedMetadataBothWays() {
        ServerInterceptor mirror = new ServerInterceptor() {
            @Override
            public <Q, R> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
                return next.startCall(new Mirror<>(call, headers), headers);
            }
        };
        ManagedChannel channel =
                resources.channel(resources.serve(ServerInterceptors.intercept(EchoService.definition(), mirror)));
        Metadata sent = new Metadata();
        sent.put(TEXT, "one");
        sent.put(TEXT, "two, three");
        sent.put(BINARY, new byte[] {0, -1, 13, 10});
        sent.put(BINARY, new byte[0]);
        AtomicReference<Metadata> headers = new AtomicReference<>();
        AtomicReference<Metadata> trailers = new AtomicReference<>();

        ClientCalls.blockingUnaryCall(
                ClientInterceptors.intercept(
                        channel,
                        MetadataUtils.newAttachHeadersInterceptor(sent),
                        MetadataUtils.newCaptureMetadataInterceptor(headers, trailers)),
                EchoService.UNARY,
                CallOptions.DEFAULT,
                new byte[0]);

        for (Metadata received : List.of(headers.get(), trailers.get())) {
            assertThat(received.getAll(TEXT)).containsExactly("one", "two, three");
            assertThat(received.getAll(BINARY)).containsExactly(new byte[] {0, -1, 13, 10}, new byte[0]);
        }
    }

    /** Sends the client's own metadata back in headers and trailers. */
    private static final class Mirror<Q, R> extends io.grpc.ForwardingServerCall.SimpleForwardingServerCall<Q, R> {
        private final Metadata metadata;

        Mirror(ServerCall<Q, R> call, Metadata metadata) {
            super(call);
            this.metadata = metadata;
        }

        private void copyTo(Metadata target) {
            for (String value : metadata.getAll(TEXT)) {
                target.put(TEXT, value);
            }
            for (byte[] value : metadata.getAll(BINARY)) {
                target.put(BINARY, value);
            }
        }

        @Override
        public void sendHeaders(Metadata headers) {
            copyTo(headers);
            super.sendHeaders(headers);
        }

        @Override
        public void close(Status status, Metadata trailers) {
            copyTo(trailers);
            super.close(status, trailers);
        }
    }

    @Test
    void shouldTellTheHandlerWhoCalls() {
        AtomicReference<Object> peer = new AtomicReference<>();
        AtomicReference<String> authority = new AtomicReference<>();
        ServerInterceptor look = new ServerInterceptor() {
            @Override
            public <Q, R> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
                peer.set(call.getAttributes().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR));
                authority.set(call.getAuthority());
                return next.startCall(call, headers);
            }
        };
        TestServer server = resources.serve(ServerInterceptors.intercept(EchoService.definition(), look));

        EchoService.echo(resources.channel(server), new byte[1]);

        assertThat(peer.get()).isInstanceOf(java.net.InetSocketAddress.class);
        assertThat(authority.get()).isEqualTo("127.0.0.1:" + server.port());
    }

    @Test
    void shouldCancelTheContextAndAnswerWhenTheDeadlinePasses() throws Exception {
        CompletableFuture<Throwable> cancelled = new CompletableFuture<>();
        CountDownLatch released = new CountDownLatch(1);
        TestServer server =
                resources.serve(EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> {
                    Context.current()
                            .addListener(context -> cancelled.complete(context.cancellationCause()), Runnable::run);
                    awaitQuietly(released);
                })));
        ManagedChannel channel = resources.channel(server);
        long begin = System.nanoTime();

        StatusRuntimeException failure = failure(() -> ClientCalls.blockingUnaryCall(
                channel,
                EchoService.UNARY,
                CallOptions.DEFAULT.withDeadlineAfter(Duration.ofMillis(300)),
                new byte[10]));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(cancelled.get(10, TimeUnit.SECONDS)).isNotNull();
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(5));
        released.countDown();
        assertThat(echoable(channel)).isTrue();
    }

    @Test
    void shouldSayWhatClientsSayWhenTheServersClockIsFirst() {
        TestServer server =
                resources.serve(EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> {})));
        Metadata head = new Metadata();
        head.put(Metadata.Key.of("grpc-timeout", Metadata.ASCII_STRING_MARSHALLER), "50m");

        StatusRuntimeException failure = failure(() -> ClientCalls.blockingUnaryCall(
                ClientInterceptors.intercept(
                        resources.channel(server), MetadataUtils.newAttachHeadersInterceptor(head)),
                EchoService.UNARY,
                CallOptions.DEFAULT,
                new byte[10]));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(failure.getStatus().getDescription())
                .isEqualTo("CallOptions deadline exceeded after 0.05s. [the server ended the call]");
    }

    /** The handler of these tests never answers, but a call that is refused shows that the connection lives. */
    private static boolean echoable(ManagedChannel channel) {
        MethodDescriptor<byte[], byte[]> unknown = EchoService.method("Nothing", MethodType.UNARY);
        return failure(() -> ClientCalls.blockingUnaryCall(channel, unknown, CallOptions.DEFAULT, new byte[0]))
                        .getStatus()
                        .getCode()
                == Status.Code.UNIMPLEMENTED;
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            if (!latch.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("nobody released the handler");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldTellTheHandlerThatTheClientCancelled() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CompletableFuture<Boolean> cancelled = new CompletableFuture<>();
        TestServer server =
                resources.serve(EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> {
                    Context.current().addListener(context -> cancelled.complete(true), Runnable::run);
                    running.countDown();
                })));
        ManagedChannel channel = resources.channel(server);
        Future<byte[]> answer =
                ClientCalls.futureUnaryCall(channel.newCall(EchoService.UNARY, CallOptions.DEFAULT), new byte[10]);
        assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();

        answer.cancel(true);

        assertThat(cancelled.get(10, TimeUnit.SECONDS)).isTrue();
        assertThat(echoable(channel)).isTrue();
    }

    @Test
    void shouldRunWhatWasToRunOnCancellationAndAtOnceAfterIt() throws Exception {
        CountDownLatch running = new CountDownLatch(1);
        CountDownLatch early = new CountDownLatch(1);
        CountDownLatch late = new CountDownLatch(1);
        TestServer server = resources.serve(EchoService.of(EchoService.UNARY, (call, headers) -> {
            GrpcCall<byte[], byte[]> ours = (GrpcCall<byte[], byte[]>) call;
            ours.onCancelled(early::countDown);
            running.countDown();
            awaitQuietly(early);
            ours.onCancelled(late::countDown);
            return new ServerCall.Listener<>() {};
        }));
        Future<byte[]> answer = ClientCalls.futureUnaryCall(
                resources.channel(server).newCall(EchoService.UNARY, CallOptions.DEFAULT), new byte[10]);
        assertThat(running.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(early.getCount()).isEqualTo(1);

        answer.cancel(true);

        assertThat(early.await(10, TimeUnit.SECONDS)).isTrue();
        assertThat(late.await(10, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldAnswerInternalWhenTheHandlerCompletesWithoutAResponse() {
        ManagedChannel channel = resources.channel(resources.serve(EchoService.of(
                EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> answer.onCompleted()))));

        assertThat(failure(() -> EchoService.echo(channel, new byte[1]))
                        .getStatus()
                        .getCode())
                .isEqualTo(Status.Code.INTERNAL);
    }

    @Test
    void shouldAnswerFromAnotherThreadThanTheHandlers() {
        ManagedChannel channel = resources.channel(resources.serve(
                EchoService.of(EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> Thread.ofVirtual()
                        .start(() -> {
                            answer.onNext(request);
                            answer.onCompleted();
                        })))));

        assertThat(EchoService.echo(channel, EchoService.random(1000))).isEqualTo(EchoService.random(1000));
    }
}
