// SPDX-License-Identifier: Apache-2.0
package gatun.it.v1;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.ServerExtension;
import gatun.it.v1.V1Client.Response;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Streams of the legacy v1 API in the real server: a response to each request, in their order. */
@Timeout(120)
class V1StreamIT {
    @RegisterExtension
    static final ServerExtension server = ServerExtension.ofExamples();

    private static final GrpcClient grpc = server.grpc();

    /** A stream that is open. */
    private static final class Stream extends ClientCall.Listener<byte[]> {
        private final ClientCall<byte[], byte[]> call;
        private final BlockingQueue<byte[]> responses = new LinkedBlockingQueue<>();
        private final CompletableFuture<Status> end = new CompletableFuture<>();

        private Stream() {
            call = new V1Client.Grpc(grpc.channel()).stream();
            call.start(this, new Metadata());
            call.request(Integer.MAX_VALUE);
        }

        private void send(String model, V1Header header) {
            call.sendMessage(
                    V1Client.Grpc.request(model, V1Client.LATEST, header).toByteArray());
        }

        private Response next() throws InterruptedException {
            byte[] response = responses.poll(20, TimeUnit.SECONDS);
            assertThat(response).as("an answer within 20 s").isNotNull();
            return V1Client.Grpc.answer(V1Message.parse(response));
        }

        private void finish() throws Exception {
            call.halfClose();
            assertThat(end.get(20, TimeUnit.SECONDS).getCode()).isEqualTo(Status.Code.OK);
            assertThat(responses).isEmpty();
        }

        @Override
        public void onMessage(byte[] message) {
            responses.add(message);
        }

        @Override
        public void onClose(Status status, Metadata trailers) {
            end.complete(status);
        }
    }

    private static V1Header step(int value) {
        byte[] bytes = ByteBuffer.allocate(Integer.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(value)
                .array();
        return V1Header.batch(1).input("INPUT", bytes).output("OUTPUT");
    }

    private static int value(Response response) {
        return ByteBuffer.wrap(response.raw().getFirst())
                .order(ByteOrder.LITTLE_ENDIAN)
                .getInt();
    }

    @Test
    void shouldAnswerSequencesInTheOrderOfTheirRequests() throws Exception {
        Stream stream = new Stream();
        List<Integer> expected = new ArrayList<>();
        int steps = 30;
        int[] sums = new int[3];
        for (int step = 0; step < steps; step++) {
            for (int sequence = 0; sequence < 3; sequence++) {
                int value = step + 100 * sequence;
                sums[sequence] += value;
                expected.add(sums[sequence]);
                int flags = (step == 0 ? 1 : 0) | (step == steps - 1 ? 2 : 0);
                stream.send(
                        "running_sum",
                        step(value).sequence(sequence + 1).flags(flags).id(expected.size()));
            }
        }
        for (int i = 0; i < expected.size(); i++) {
            Response response = stream.next().succeeded();
            assertThat(response.header().number(5)).as("id").isEqualTo(i + 1);
            assertThat(value(response)).isEqualTo(expected.get(i));
        }
        stream.finish();
    }

    @Test
    void shouldGoOnAfterARequestThatFailed() throws Exception {
        Stream stream = new Stream();
        stream.send("nosuch", step(1).id(1));
        stream.send(
                "identity_fp32",
                V1Header.batch(1).id(2).input("INPUT0", new byte[8], 2).output("OUTPUT0"));
        stream.send("running_sum", step(3).id(3));
        Response unknown = stream.next();
        assertThat(unknown.code()).isEqualTo("UNAVAILABLE");
        assertThat(unknown.text()).isEqualTo("Request for unknown model: 'nosuch' is not found");
        assertThat(unknown.header().number(5)).isEqualTo(1);
        assertThat(stream.next().succeeded().raw()).containsExactly(new byte[8]);
        Response lacking = stream.next();
        assertThat(lacking.text())
                .isEqualTo("inference request to model 'running_sum' must specify a non-zero correlation ID");
        assertThat(lacking.header().number(5)).isEqualTo(3);
        stream.finish();
    }
}
