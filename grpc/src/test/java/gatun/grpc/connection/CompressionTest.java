// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.grpc.calls.CallAdmission.Encodings;
import gatun.grpc.calls.CompressionInterceptor;
import gatun.grpc.frames.Http2;
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
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class CompressionTest {
    @RegisterExtension
    final TestResources resources = new TestResources();

    private static StatusRuntimeException failure(Runnable call) {
        return catchThrowableOfType(StatusRuntimeException.class, call::run);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 10, 100_000, 3 << 20})
    void shouldUnpackGzippedRequests(int size) {
        TestServer server = resources.serve(EchoService.definition());
        ManagedChannel channel = resources.channel(server);
        byte[] message = EchoService.random(size);

        byte[] answer = ClientCalls.blockingUnaryCall(
                channel, EchoService.UNARY, CallOptions.DEFAULT.withCompression("gzip"), message);

        assertThat(answer).isEqualTo(message);
        assertThat(server.lentBytes()).isZero();
    }

    @Test
    void shouldUnpackRequestsOfEveryEncodingThatIsListed() throws Exception {
        RawClient client = resources.connect(resources.serve(EchoService.definition()));
        int id = 1;
        for (String encoding : Encodings.list(Encodings.ALL)) {
            ByteArrayOutputStream packed = new ByteArrayOutputStream();
            try (OutputStream packing =
                    Encodings.compressor(encoding).orElseThrow().compress(packed)) {
                packing.write(new byte[] {1, 2, 3});
            }
            byte[] message = RawClient.prefixed(packed.toByteArray());
            message[0] = 1;
            client.call(id, false, "Unary", "grpc-encoding", encoding);
            client.frame(Http2.DATA, Http2.FLAG_END_STREAM, id, message);

            client.headers(id);
            assertThat(client.await(f -> f.type() == Http2.DATA).payload())
                    .as(encoding)
                    .isEqualTo(ByteBuffer.wrap(RawClient.prefixed((byte) 1, (byte) 2, (byte) 3)));
            assertThat(client.headers(id).get("grpc-status")).isEqualTo("0");
            id += 2;
        }
    }

    @Test
    void shouldRefuseADamagedMessageAndKeepTheConnection() throws Exception {
        RawClient client = resources.connect(resources.serve(EchoService.definition()));
        byte[] message = RawClient.prefixed(new byte[50]);
        message[0] = 1;
        client.call(1, false, "Unary", "grpc-encoding", "deflate");
        client.frame(Http2.DATA, Http2.FLAG_END_STREAM, 1, message);

        assertThat(client.headers(1).get("grpc-status")).isEqualTo("3");
        client.assertEchoes(3);
    }

    @ParameterizedTest
    @CsvSource({
        "'gzip, deflate', gzip",
        "'identity,deflate,gzip', gzip",
        "deflate, deflate",
        "identity, ",
        "snappy, ",
        "'', "
    })
    void shouldCompressWithTheBestEncodingThatTheClientTakes(String accepted, String used) throws Exception {
        ServerServiceDefinition service = ServerInterceptors.intercept(
                EchoService.definition(), new CompressionInterceptor(List.of("gzip", "deflate"), Set.of("Unary")));
        RawClient client = resources.connect(resources.serve(service));
        client.call(1, false, "Unary", "grpc-accept-encoding", accepted);
        client.message(1, true, new byte[5000]);

        assertThat(client.headers(1).get("grpc-encoding")).isEqualTo(used);
        ByteBuffer answer = client.await(f -> f.type() == Http2.DATA).payload();
        assertThat(answer.get(0)).isEqualTo((byte) (used == null ? 0 : 1));
        byte[] packed = new byte[answer.capacity() - 5];
        answer.get(5, packed);
        try (InputStream unpacked = Encodings.decompressor(used == null ? "identity" : used)
                .orElseThrow()
                .decompress(new ByteArrayInputStream(packed))) {
            assertThat(unpacked.readAllBytes()).isEqualTo(new byte[5000]);
        }
    }

    @Test
    void shouldCompressOnlyTheMethodsThatItIsToldTo() throws Exception {
        ServerServiceDefinition service = ServerInterceptors.intercept(
                EchoService.definition(), new CompressionInterceptor(List.of("gzip"), Set.of("Join")));
        RawClient client = resources.connect(resources.serve(service));
        client.call(1, false, "Unary", "grpc-accept-encoding", "gzip");
        client.message(1, true, new byte[50]);

        assertThat(client.headers(1).get("grpc-encoding")).isNull();
    }

    @Test
    void shouldRefuseAGzippedMessageThatUnpacksToMoreThanTheLimit() {
        TestServer server = resources.serve(
                TestServer.settings(100_000, 100, 8192, 65_535, 65_535, 16_384), EchoService.definition());
        ManagedChannel channel = resources.channel(server);

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
                        resources.channel(resources.serve(service)),
                        MetadataUtils.newCaptureMetadataInterceptor(headers, trailers)),
                EchoService.UNARY,
                CallOptions.DEFAULT,
                new byte[50_000]);
        assertThat(answer).isEqualTo(new byte[50_000]);
        return Objects.requireNonNull(headers.get());
    }
}
