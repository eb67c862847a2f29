package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerInterceptors;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class CompressionTest {
    @RegisterExtension
    final Opened opened = new Opened();

    private static StatusRuntimeException failure(Runnable call) {
        return catchThrowableOfType(StatusRuntimeException.class, call::run);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 10, 100_000, 3 << 20})
    void shouldUnpackGzippedRequests(int size) {
        TestServer server = opened.serve(EchoService.definition());
        ManagedChannel channel = opened.channel(server);
        byte[] message = EchoService.random(size);

        byte[] answer = ClientCalls.blockingUnaryCall(
                channel, EchoService.UNARY, CallOptions.DEFAULT.withCompression("gzip"), message);

        assertThat(answer).isEqualTo(message);
        assertThat(server.lentBytes()).isZero();
    }

    @Test
    void shouldRefuseAGzippedMessageThatUnpacksToMoreThanTheLimit() {
        TestServer server =
                opened.serve(TestServer.settings(100_000, 100, 8192, 65_535, 65_535, 16_384), EchoService.definition());
        ManagedChannel channel = opened.channel(server);

        StatusRuntimeException failure = failure(() -> ClientCalls.blockingUnaryCall(
                channel, EchoService.UNARY, CallOptions.DEFAULT.withCompression("gzip"), new byte[10 << 20]));

        assertThat(failure.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
        assertThat(server.lentBytes()).isZero();
    }

    @Test
    void shouldCompressResponsesOnlyWhenTheHandlerAsks() {
        ServerInterceptor gzip = new ServerInterceptor() {
            @Override
            public <Q, R> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
                call.setCompression("gzip");
                return next.startCall(call, headers);
            }
        };
        Metadata.Key<String> encoding = Metadata.Key.of("grpc-encoding", Metadata.ASCII_STRING_MARSHALLER);

        assertThat(headersOf(EchoService.definition()).get(encoding)).isNull();
        assertThat(headersOf(ServerInterceptors.intercept(EchoService.definition(), gzip))
                        .get(encoding))
                .isEqualTo("gzip");
    }

    private Metadata headersOf(ServerServiceDefinition service) {
        AtomicReference<Metadata> headers = new AtomicReference<>();
        AtomicReference<Metadata> trailers = new AtomicReference<>();
        byte[] answer = ClientCalls.blockingUnaryCall(
                ClientInterceptors.intercept(
                        opened.channel(opened.serve(service)),
                        MetadataUtils.newCaptureMetadataInterceptor(headers, trailers)),
                EchoService.UNARY,
                CallOptions.DEFAULT,
                new byte[50_000]);
        assertThat(answer).isEqualTo(new byte[50_000]);
        return headers.get();
    }
}
