// SPDX-License-Identifier: Apache-2.0
package gatun.it.limits;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.RawGrpc;
import gatun.it.harness.RawHttp;
import gatun.it.harness.ServerExtension;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import java.io.IOException;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Clients that announce long bodies and send them slowly, against a server with a buffer pool of 256 MiB. The
 * resource is the pool; each request uses as much of it as has come of its body, and under pressure the slowest sender
 * loses.
 */
@Timeout(120)
class MemoryPressureIT {
    private static final int ANNOUNCED = 64 << 20;

    /** Responses that nobody reads, and the bytes of each: further large ones find no room beside them. */
    private static final int UNREAD = 8;

    private static final int LARGE = 24 << 20;

    @RegisterExtension
    static final ServerExtension SERVER = ServerExtension.checkedForLeaks("--buffer-pool-byte-size=" + (256 << 20));

    private final List<RawHttp> slowHttp = new ArrayList<>();
    private final List<RawGrpc> slowGrpc = new ArrayList<>();
    private final List<GrpcClient> unreading = new ArrayList<>();

    @AfterEach
    void closeClients() throws IOException {
        for (RawHttp client : slowHttp) {
            client.close();
        }
        for (RawGrpc client : slowGrpc) {
            client.close();
        }
        for (GrpcClient client : unreading) {
            client.close();
        }
    }

    private RawHttp announce() throws IOException {
        RawHttp client = RawHttp.connect(SERVER.httpAddress());
        slowHttp.add(client);
        return client.send(
                "POST /v2/models/simple/infer HTTP/1.1\r\nHost: localhost\r\nInference-Header-Content-Length: 100\r\n"
                        + "Content-Length: " + ANNOUNCED + "\r\n\r\n");
    }

    private static void assertSmallRequestsAnswered(int count) {
        for (int i = 0; i < count; i++) {
            SERVER.assertAnswers();
        }
    }

    @Test
    void shouldAnswerOthersBesideTwoHundredThatAnnounceMuchAndSendLittle() throws Exception {
        for (int i = 0; i < 200; i++) {
            announce().send(new byte[250]);
        }
        for (int i = 0; i < 20; i++) {
            RawGrpc client = RawGrpc.call(SERVER.grpcAddress(), "ModelInfer");
            slowGrpc.add(client);
            client.message(ANNOUNCED, new byte[250]);
        }
        SERVER.awaitLentBytes(200 * (64 << 10));
        assertSmallRequestsAnswered(25);
        assertThat(SERVER.http().metric("gatun_buffer_pool_used_bytes"))
                .as("what is lent: what has come, and not what is announced")
                .isLessThan(32 << 20);
        // Refused for what it is, and not for want of memory.
        HttpResponse<String> large = SERVER.http()
                .send(
                        HttpRequest.newBuilder(SERVER.http("/v2/models/simple/infer"))
                                .header("Inference-Header-Content-Length", "2")
                                .POST(HttpRequest.BodyPublishers.ofByteArray(new byte[48 << 20])),
                        HttpResponse.BodyHandlers.ofString());
        assertThat(large.statusCode()).as(large.body()).isEqualTo(400);
    }

    @Test
    void shouldTakeTheMemoryOfThoseThatStopForThoseThatGoOn() throws Exception {
        byte[] most = new byte[ANNOUNCED - (4 << 20)];
        for (int i = 0; i < 3; i++) {
            announce().send(most);
        }
        SERVER.awaitLentBytes(3L * most.length);
        RawGrpc dripping = RawGrpc.call(SERVER.grpcAddress(), "ModelInfer");
        slowGrpc.add(dripping);
        dripping.message(ANNOUNCED, new byte[250]);
        assertSmallRequestsAnswered(5);
        // Needs more than what is left: the first of the three has waited longest. None is late at once, so that it is
        // tried again.
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        HttpResponse<String> large = sendLarge();
        while (large.statusCode() == 503 && System.nanoTime() < deadline) {
            large = sendLarge();
        }
        assertThat(large.statusCode()).as(large.body()).isEqualTo(400);
        assertThat(slowHttp.getFirst().readUntil("\r\n\r\n")).startsWith("HTTP/1.1 503 ");
        assertThat(slowHttp.getFirst().readUntil("}")).contains("was sent too slowly while memory was short");
    }

    @Test
    void shouldTakeTheMemoryOfThoseThatDoNotReadForThoseThatDo() throws Exception {
        for (int i = 1; i <= UNREAD; i++) {
            if (i % 2 == 0) {
                askByHttp();
            } else {
                askByGrpc();
            }
            SERVER.awaitLentBytes((long) i * LARGE);
        }
        // The others' responses are late after some seconds, so that it is tried again.
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(40);
        HttpResponse<String> large = sendLarge();
        while (large.statusCode() == 503 && System.nanoTime() < deadline) {
            assertSmallRequestsAnswered(1);
            large = sendLarge();
        }
        assertThat(large.statusCode()).as(large.body()).isEqualTo(400);
    }

    /** Asks for a large response and does not read it. */
    private void askByHttp() throws IOException {
        String json = "{\"inputs\":[{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[" + LARGE / Float.BYTES
                + "],\"parameters\":{\"binary_data_size\":" + LARGE
                + "}}],\"parameters\":{\"binary_data_output\":true}}";
        RawHttp client = RawHttp.connect(SERVER.httpAddress());
        slowHttp.add(client);
        client.send(
                        "POST /v2/models/identity_fp32/infer HTTP/1.1\r\nHost: localhost\r\nInference-Header-Content-Length: "
                                + json.length() + "\r\nContent-Length: " + (json.length() + LARGE) + "\r\n\r\n" + json)
                .send(new byte[LARGE]);
    }

    /** Asks for a large response, for which its client's library never opens the window. */
    private void askByGrpc() {
        GrpcClient client = GrpcClient.tcp(SERVER.grpcAddress().getPort());
        unreading.add(client);
        ModelInferRequest request = ModelInferRequest.newBuilder()
                .setModelName("identity_fp32")
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName("INPUT0")
                        .setDatatype("FP32")
                        .addShape(LARGE / Float.BYTES))
                .addRawInputContents(ByteString.copyFrom(new byte[LARGE]))
                .build();
        ClientCall<ModelInferRequest, ModelInferResponse> call =
                client.channel().newCall(GRPCInferenceServiceGrpc.getModelInferMethod(), CallOptions.DEFAULT);
        call.start(new ClientCall.Listener<>() {}, new Metadata());
        call.sendMessage(request);
        call.halfClose();
    }

    private static HttpResponse<String> sendLarge() {
        return SERVER.http()
                .send(
                        HttpRequest.newBuilder(SERVER.http("/v2/models/simple/infer"))
                                .header("Inference-Header-Content-Length", "2")
                                .POST(HttpRequest.BodyPublishers.ofByteArray(new byte[100 << 20])),
                        HttpResponse.BodyHandlers.ofString());
    }
}
