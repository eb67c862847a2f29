package gatun.grpc.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.protobuf.Any;
import com.google.protobuf.StringValue;
import com.google.rpc.Code;
import io.grpc.Metadata;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.protobuf.StatusProto;
import io.grpc.stub.ServerCalls;
import java.io.IOException;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What clients hear of a call that failed. */
@Timeout(60)
class FailedCallTest {
    @RegisterExtension
    final Opened opened = new Opened();

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
        TestServer server = opened.serve(failingWith(StatusProto.toStatusRuntimeException(rich)));

        Throwable failure = catchThrowable(() -> EchoService.echo(opened.channel(server), new byte[3]));

        assertThat(StatusProto.fromThrowable(failure)).isEqualTo(rich);
    }

    @Test
    void shouldAnswerInOneFrameWhenNothingWasSentBefore() throws IOException {
        Metadata trailers = new Metadata();
        trailers.put(Metadata.Key.of("test-text", Metadata.ASCII_STRING_MARSHALLER), "more");
        TestServer server = opened.serve(
                failingWith(Status.NOT_FOUND.withDescription("no such thing").asRuntimeException(trailers)));
        RawClient client = opened.connect(server);
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
