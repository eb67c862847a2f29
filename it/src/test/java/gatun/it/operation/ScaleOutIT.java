// SPDX-License-Identifier: Apache-2.0
package gatun.it.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.ByteString;
import gatun.it.harness.HaProxy;
import gatun.it.harness.ModelRepositoryFolder;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import gatun.testing.Certificates;
import gatun.testing.FreePorts;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ServerMetadataRequest;
import io.grpc.ChannelCredentials;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.TlsChannelCredentials;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three servers, at loopback addresses of their own, behind a real HAProxy with the configuration that lies in
 * {@code kubernetes/haproxy.cfg}.
 */
@Timeout(180)
class ScaleOutIT {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int SERVERS = 3;
    private static final Metadata.Key<String> SEQUENCE =
            Metadata.Key.of("x-sequence-id", Metadata.ASCII_STRING_MARSHALLER);

    @TempDir
    static Path folder;

    private static final List<Machine> machines = new ArrayList<>();
    private static Certificates.Identity identity;
    private static HaProxy proxy;
    private static int httpPort;
    private static int grpcPort;
    private static int tlsPort;

    /** Where one of the servers runs, again and again. */
    private static final class Machine {
        private final String name;
        private final String address;
        private ServerProcess server;
        private final int http;
        private final int grpc;

        Machine(int number) throws Exception {
            name = "gatun-" + number;
            address = "127.0.0." + (1 + number);
            server = launch(0, 0);
            http = server.httpPort();
            grpc = server.grpcPort();
        }

        private ServerProcess launch(int http, int grpc) throws InterruptedException {
            return ServerProcess.launch(
                    folder.resolve("models"),
                    Map.of("GATUN_JAVA_OPTS", "-Xms32m -Xmx96m"),
                    "--id=" + name,
                    "--http-address=" + address,
                    "--http-port=" + http,
                    "--grpc-address=" + address,
                    "--grpc-port=" + grpc,
                    "--drain-secs=20");
        }

        void restart() throws InterruptedException {
            server.close();
            server = launch(http, grpc);
        }

        void awaitUp() {
            proxy.awaitState("http", name, true);
        }

        void awaitDown() {
            proxy.awaitState("http", name, false);
        }

        long requests() {
            return proxy.requests("http", name) + proxy.requests("grpc", name);
        }
    }

    @BeforeAll
    static void start() throws Exception {
        assumeTrue(HaProxy.isInstalled(), "haproxy is not installed");
        new ModelRepositoryFolder(Files.createDirectory(folder.resolve("models"))).delay("slow", 10);
        for (int number = 1; number <= SERVERS; number++) {
            machines.add(new Machine(number));
        }
        identity = new Certificates(folder).identity("proxy");
        Path socket = folder.resolve("proxy.sock");
        proxy = FreePorts.start(ports -> {
            httpPort = ports.getAsInt();
            grpcPort = ports.getAsInt();
            tlsPort = ports.getAsInt();
            return HaProxy.start(Files.writeString(folder.resolve("haproxy.cfg"), configuration(socket)), socket);
        });
    }

    /** The project's configuration with the addresses and files of this test. */
    private static String configuration(Path socket) throws IOException {
        Path both = Files.writeString(
                folder.resolve("proxy.pem"),
                Files.readString(identity.certificate()) + Files.readString(identity.key()));
        String text = Files.readString(ServerProcess.root().resolve("kubernetes/haproxy.cfg"));
        text = replaced(text, "/run/haproxy/gatun.sock", socket.toString());
        text = replaced(text, "/etc/haproxy/gatun.pem", both.toString());
        text = replaced(text, "bind :8000", "bind 127.0.0.1:" + httpPort);
        text = replaced(text, "bind :8001", "bind 127.0.0.1:" + grpcPort);
        text = replaced(text, "bind :8443", "bind 127.0.0.1:" + tlsPort);
        for (int number = 1; number <= SERVERS; number++) {
            Machine machine = machines.get(number - 1);
            text = replaced(text, "10.0.0." + number + ":8000", machine.address + ":" + machine.http);
            text = replaced(text, "10.0.0." + number + ":8001", machine.address + ":" + machine.grpc);
        }
        return text;
    }

    private static String replaced(String text, String part, String replacement) {
        assertThat(text).contains(part);
        return text.replace(part, replacement);
    }

    @AfterAll
    static void stop() {
        if (proxy == null) {
            machines.forEach(machine -> machine.server.handle().destroyForcibly());
            return;
        }
        try {
            machines.forEach(machine -> machine.server.terminate());
            for (Machine machine : machines) {
                // Two signals that come at once count as one, and only the second ends the drain.
                Await.until(machine.name + " drains", () -> machine.server.log().contains("Draining"));
                machine.server.close();
            }
        } finally {
            machines.forEach(machine -> machine.server.handle().destroyForcibly());
            proxy.close();
        }
    }

    @BeforeEach
    void awaitAll() {
        machines.forEach(Machine::awaitUp);
    }

    @AfterEach
    void startThoseThatWereKilled() throws InterruptedException {
        for (Machine machine : machines) {
            if (!machine.server.handle().isAlive()) {
                machine.restart();
            }
        }
    }

    private static ManagedChannel channel(int port, ChannelCredentials credentials) {
        return NettyChannelBuilder.forAddress("127.0.0.1", port, credentials).build();
    }

    private static GRPCInferenceServiceBlockingStub service(ManagedChannel channel) {
        return GRPCInferenceServiceGrpc.newBlockingStub(channel).withDeadlineAfter(LIMIT.toSeconds(), TimeUnit.SECONDS);
    }

    /** Two clients of each protocol, each with one request under way at any time. */
    private static final class Load implements AutoCloseable {
        private final HttpClient http =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        private final ManagedChannel grpc = channel(grpcPort, InsecureChannelCredentials.create());
        private final List<Thread> threads = new ArrayList<>();
        private final ConcurrentLinkedQueue<String> failures = new ConcurrentLinkedQueue<>();
        private final AtomicLong answered = new AtomicLong();
        private volatile boolean stopping;

        private interface Call {
            void make() throws Exception;
        }

        Load() {
            for (int client = 0; client < 2; client++) {
                begin("http-" + client, this::askOverHttp);
                begin("grpc-" + client, this::askOverGrpc);
            }
        }

        private void begin(String client, Call call) {
            threads.add(Thread.ofPlatform().name(client).start(() -> {
                while (!stopping) {
                    try {
                        call.make();
                        answered.incrementAndGet();
                    } catch (Exception | AssertionError e) {
                        failures.add(client + ": " + e);
                    }
                }
            }));
        }

        private void askOverHttp() throws Exception {
            String body = "{\"inputs\":[{\"name\":\"IN\",\"shape\":[1],\"datatype\":\"INT32\",\"data\":[5]}]}";
            HttpResponse<String> response = http.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + httpPort + "/v2/models/slow/infer"))
                            .timeout(LIMIT)
                            .POST(HttpRequest.BodyPublishers.ofString(body))
                            .build(),
                    HttpResponse.BodyHandlers.ofString());
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            assertThat(response.body()).contains("\"data\":[5]");
        }

        private void askOverGrpc() {
            ModelInferRequest.Builder request = ModelInferRequest.newBuilder().setModelName("slow");
            request.addInputsBuilder().setName("IN").setDatatype("INT32").addShape(1);
            request.addRawInputContents(ByteString.copyFrom(SimpleModel.bytes(new int[] {5})));
            assertThat(service(grpc).modelInfer(request.build()).getRawOutputContents(0))
                    .isEqualTo(request.getRawInputContents(0));
        }

        /** Waits until so many more requests have been answered. */
        void awaitAnswers(int count) {
            long goal = answered.get() + count;
            Await.until(goal + " answers; failures: " + failures, () -> answered.get() >= goal);
        }

        /** Ends after the requests that are under way. */
        List<String> end() throws InterruptedException {
            stopping = true;
            for (Thread thread : threads) {
                assertThat(thread.join(LIMIT)).as(thread.getName() + " ends").isTrue();
            }
            return List.copyOf(failures);
        }

        @Override
        public void close() {
            stopping = true;
            grpc.shutdownNow();
            http.shutdownNow();
        }
    }

    @Test
    void shouldLoseNoRequestWhileServersAreReplacedOneByOne() throws Exception {
        try (Load load = new Load()) {
            for (Machine machine : machines) {
                load.awaitAnswers(20);
                machine.server.terminate();
                machine.awaitDown();
                // Nobody sends more to it, which ends the drain.
                machine.server.terminate();
                assertThat(machine.server.awaitExit(LIMIT)).isZero();
                machine.restart();
                machine.awaitUp();
            }
            load.awaitAnswers(20);
            assertThat(load.end()).isEmpty();
        }
    }

    @Test
    void shouldLoseOnlyWhatIsUnderWayOnAServerThatIsKilled() throws Exception {
        try (Load load = new Load()) {
            load.awaitAnswers(20);
            Machine killed = machines.getFirst();
            killed.server.handle().destroyForcibly();
            killed.awaitDown();
            load.awaitAnswers(50);
            List<String> failures = load.end();
            // A client has one request under way.
            assertThat(failures.stream().map(failure -> failure.replaceFirst(":.*", "")))
                    .as(failures.toString())
                    .doesNotHaveDuplicates();
        }
    }

    @Test
    void shouldSendNothingToAServerThatHangs() throws Exception {
        try (Load load = new Load()) {
            load.awaitAnswers(20);
            Machine hung = machines.getLast();
            hung.server.signal("STOP");
            try {
                hung.awaitDown();
                long before = hung.requests();
                load.awaitAnswers(50);
                assertThat(hung.requests()).isEqualTo(before);
            } finally {
                hung.server.signal("CONT");
            }
            hung.awaitUp();
            assertThat(load.end()).isEmpty();
        }
    }

    @Test
    void shouldSendASequenceToOneServerOverHttpAndGrpcAndTls() throws Exception {
        Set<String> servers = new HashSet<>();
        ManagedChannel plain = channel(grpcPort, InsecureChannelCredentials.create());
        ManagedChannel secured = channel(
                tlsPort,
                TlsChannelCredentials.newBuilder()
                        .trustManager(identity.certificate().toFile())
                        .build());
        try (HttpClient http = HttpClient.newBuilder()
                .version(HttpClient.Version.HTTP_1_1)
                .sslContext(Certificates.client(identity.certificate(), Optional.empty()))
                .build()) {
            for (int sequence = 1; sequence <= 16; sequence++) {
                String server = nameOverHttp(http, "http://127.0.0.1:" + httpPort, sequence);
                assertThat(server).matches("gatun-[123]");
                assertThat(nameOverHttp(http, "https://127.0.0.1:" + tlsPort, sequence))
                        .isEqualTo(server);
                assertThat(nameOverGrpc(plain, sequence)).isEqualTo(server);
                assertThat(nameOverGrpc(secured, sequence)).isEqualTo(server);
                servers.add(server);
            }
        } finally {
            plain.shutdownNow();
            secured.shutdownNow();
        }
        assertThat(servers).hasSize(SERVERS);
    }

    private static String nameOverHttp(HttpClient http, String url, int sequence) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url + "/v2"))
                .timeout(LIMIT)
                .header(SEQUENCE.originalName(), Integer.toString(sequence))
                .build();
        return http.send(request, HttpResponse.BodyHandlers.ofString())
                .body()
                .replaceFirst(".*\"name\":\"([^\"]*)\".*", "$1");
    }

    private static String nameOverGrpc(ManagedChannel channel, int sequence) {
        Metadata headers = new Metadata();
        headers.put(SEQUENCE, Integer.toString(sequence));
        return service(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
                .serverMetadata(ServerMetadataRequest.getDefaultInstance())
                .getName();
    }
}
