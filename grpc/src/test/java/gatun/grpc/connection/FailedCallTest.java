// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.protobuf.Any;
import com.google.protobuf.StringValue;
import com.google.rpc.Code;
import gatun.grpc.frames.Http2;
import io.grpc.Metadata;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ServerCalls;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Statuses that clients get for failed calls. */
@Timeout(60)
class FailedCallTest {
    @RegisterExtension
    final TestResources resources = new TestResources();

    private static ServerServiceDefinition failingWith(RuntimeException failure) {
        return EchoService.of(
                EchoService.UNARY, ServerCalls.asyncUnaryCall((request, answer) -> answer.onError(failure)));
    }

    @Test
    void shouldCarryRichStatus() {
        com.google.rpc.Status rich = com.google.rpc.Status.newBuilder()
                .setCode(Code.RESOURCE_EXHAUSTED_VALUE)
                .setMessage("größer als erlaubt")
                .addDetails(Any.pack(StringValue.of("x".repeat(1000))))
                .addDetails(Any.pack(StringValue.of("大きい")))
                .build();
        TestServer server = resources.serve(failingWith(StatusProto.toStatusRuntimeException(rich)));

        Throwable failure = catchThrowable(() -> EchoService.echo(resources.channel(server), new byte[3]));

        assertThat(StatusProto.fromThrowable(failure)).isEqualTo(rich);
    }

    @Test
    void shouldCarryTextsThatEscapingMakesLong() {
        String text = "ä".repeat(1000);
        TestServer server =
                resources.serve(failingWith(Status.ABORTED.withDescription(text).asRuntimeException()));

        Throwable failure = catchThrowable(() -> EchoService.echo(resources.channel(server), new byte[3]));

        assertThat(Status.fromThrowable(failure).getDescription()).isEqualTo(text);
    }

    @Test
    void shouldContinueTrailersThatOneFrameCannotHold() throws IOException {
        byte[] details = EchoService.random(40_000);
        Metadata.Key<byte[]> key = Metadata.Key.of("details-bin", Metadata.BINARY_BYTE_MARSHALLER);
        Metadata trailers = new Metadata();
        trailers.put(key, details);
        TestServer server = resources.serve(failingWith(Status.ABORTED.asRuntimeException(trailers)));
        RawClient client = resources.connect(server);
        client.call(1, false, "Unary");
        client.message(1, true, (byte) 1);

        ByteArrayOutputStream block = new ByteArrayOutputStream();
        RawClient.Frame frame = client.await(f -> f.type() == Http2.HEADERS);
        assertThat(frame.endsStream()).isTrue();
        while ((frame.flags() & Http2.FLAG_END_HEADERS) == 0) {
            block.writeBytes(frame.payload().array());
            frame = client.read();
            assertThat(frame.type()).isEqualTo(Http2.CONTINUATION);
            assertThat(frame.streamId()).isEqualTo(1);
        }
        block.writeBytes(frame.payload().array());
        RawClient.Frame whole = new RawClient.Frame(Http2.HEADERS, 0, 1, ByteBuffer.wrap(block.toByteArray()));
        assertThat(Base64.getDecoder().decode(client.fields(whole).get("details-bin")))
                .isEqualTo(details);
        assertThat(client.isAlive()).isTrue();
    }

    @Test
    void shouldAnswerInOneFrameWhenNothingWasSentBefore() throws IOException {
        Metadata trailers = new Metadata();
        trailers.put(Metadata.Key.of("test-text", Metadata.ASCII_STRING_MARSHALLER), "more");
        TestServer server = resources.serve(
                failingWith(Status.NOT_FOUND.withDescription("no such thing").asRuntimeException(trailers)));
        RawClient client = resources.connect(server);
        client.call(1, false, "Unary");
        client.message(1, true, (byte) 1);

        RawClient.Frame only = client.await(f -> f.streamId() == 1);
        assertThat(only.type()).isEqualTo(Http2.HEADERS);
        assertThat(only.endsStream()).isTrue();
        HttpFields fields = client.fields(only);
        assertThat(fields.get("content-type")).isEqualTo("application/grpc");
        assertThat(fields.get("grpc-status")).isEqualTo("5");
        assertThat(fields.get("grpc-message")).isEqualTo("no such thing");
        assertThat(fields.get("test-text")).isEqualTo("more");
        client.frame(Http2.PING, 0, 0, RawClient.ints(1, 2));
        assertThat(client.await(f -> f.streamId() == 1 || f.type() == Http2.PING)
                        .type())
                .isEqualTo(Http2.PING);
    }
}
