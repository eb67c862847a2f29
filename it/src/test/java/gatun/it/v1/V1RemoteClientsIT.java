// SPDX-License-Identifier: Apache-2.0
package gatun.it.v1;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Clients behind a proxy, and the shared memory of a client on this machine, by the legacy v1 API. */
@Timeout(120)
class V1RemoteClientsIT {
    private static final String CONTROL = "/api/sharedmemorycontrol/";
    private static final String ALLOW = "--allow-remote-client-shm=true";
    private static final V1Header.Window WINDOW = new V1Header.Window("mine", 0, 32);

    @AutoClose
    private static ServerProcess server;

    @AutoClose
    private static HttpApi http;

    @AutoClose
    private static GrpcClient proxied;

    private static SharedObject object;

    @BeforeAll
    static void start() throws Exception {
        server = ServerProcess.launch(ServerProcess.exampleModels(), "--allow-client-shm");
        http = new HttpApi(server);
        proxied = GrpcClient.tcp(server.grpcPort(), "via", "1.1 proxy");
        object = SharedObject.create(64);
        assertThat(http.register("mine", object.key(), "0", "64").statusCode()).isEqualTo(200);
    }

    @AfterAll
    static void removeObject() throws Exception {
        object.close();
    }

    @AfterEach
    void shouldHaveLeftTheRegionToItsOwner() throws Exception {
        assertThat(http.get(CONTROL + "status").body()).contains("\"mine\"").doesNotContain("other");
        assertThat(object.read(0, 64).array()).containsOnly(0);
    }

    private static HttpRequest.Builder through(String path) {
        return HttpRequest.newBuilder(http.uri(path)).header("X-Forwarded-For", "10.0.0.1");
    }

    private static void requireRefused(HttpResponse<String> response) {
        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(V1Client.Http.status(response)).contains("code: UNSUPPORTED", ALLOW);
        assertThat(response.body()).doesNotContain("mine");
    }

    @Test
    void shouldRefuseToListAndChangeRegions() {
        requireRefused(http.send(through(CONTROL + "status"), HttpResponse.BodyHandlers.ofString()));
        for (String change : List.of(
                "register/other/" + object.key() + "/0/64",
                "cudaregister/other/64/0",
                "unregister/mine",
                "unregister/none",
                "unregisterall")) {
            requireRefused(http.send(
                    through(CONTROL + change).POST(HttpRequest.BodyPublishers.ofString("h".repeat(64))),
                    HttpResponse.BodyHandlers.ofString()));
        }
        V1Message name = new V1Message().text(1, "mine");
        V1Message nothing = new V1Message();
        V1Client.Grpc grpc = new V1Client.Grpc(proxied.channel());
        for (V1Message message : List.of(
                new V1Message().message(2, name), // unregister
                new V1Message().message(3, nothing), // unregister all
                new V1Message().message(4, nothing))) { // status
            V1Message response = grpc.call("SharedMemoryControl", message);
            assertThat(response.message(1).text(2)).contains(ALLOW);
            assertThat(response.message(2).messages(1)).isEmpty();
        }
    }

    private static List<V1Header> headers() {
        return List.of(
                V1Header.batch(1).input("INPUT0", WINDOW, 8).output("OUTPUT0"),
                V1Header.batch(1).input("INPUT0", new byte[32], 8).output("OUTPUT0", WINDOW));
    }

    @Test
    void shouldRefuseToUseRegions() {
        V1Client.Grpc grpc = new V1Client.Grpc(proxied.channel());
        for (V1Header header : headers()) {
            assertThat(grpc.infer("identity_fp32", V1Client.LATEST, header).text())
                    .contains(ALLOW);
            requireRefused(http.send(
                    through("/api/infer/identity_fp32")
                            .header("NV-InferRequest", header.text())
                            .POST(HttpRequest.BodyPublishers.ofByteArrays(header.data())),
                    HttpResponse.BodyHandlers.ofString()));
        }
    }

    @Test
    void shouldRefuseToUseRegionsInStreams() throws Exception {
        BlockingQueue<byte[]> received = new LinkedBlockingQueue<>();
        ClientCall<byte[], byte[]> stream = new V1Client.Grpc(proxied.channel()).stream();
        stream.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onMessage(byte[] message) {
                        received.add(message);
                    }

                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        received.add(new byte[0]);
                    }
                },
                new Metadata());
        stream.request(2);
        for (V1Header header : headers()) {
            stream.sendMessage(V1Client.Grpc.request("identity_fp32", V1Client.LATEST, header)
                    .toByteArray());
            byte[] message = received.poll(20, TimeUnit.SECONDS);
            assertThat(message).isNotEmpty();
            assertThat(V1Client.Grpc.answer(V1Message.parse(message)).text()).contains(ALLOW);
        }
        stream.halfClose();
    }
}
