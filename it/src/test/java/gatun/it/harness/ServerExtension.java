// SPDX-License-Identifier: Apache-2.0
package gatun.it.harness;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.testing.Await;
import gatun.wire.inference.ModelInferResponse;
import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpResponse;
import java.util.Objects;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * One server for all tests of a class, with clients of it that may be kept from the beginning. It must stop in order, and
 * must not have logged an error.
 */
public final class ServerExtension
        implements BeforeAllCallback, AfterAllCallback, BeforeEachCallback, AfterEachCallback {
    private static final String LENT_BYTES = "gatun_buffer_pool_used_bytes";
    private static final String LIVE_VALUES = "gatun_backend_live_values{backend=\"onnxruntime\"}";

    private final Launch launch;
    private final boolean checked;
    private final HttpApi http = new HttpApi(this::process);
    private final GrpcClient grpc = GrpcClient.tcp(this::grpcPort);
    private ServerProcess process;
    private int descriptors;
    private double liveValues;

    /** Starts a server, and waits until it is ready. */
    @FunctionalInterface
    public interface Launch {
        /** Starts it; folders of the class are there. */
        ServerProcess start() throws Exception;
    }

    @SuppressWarnings("NullAway.Init") // set before each use
    private ServerExtension(Launch launch, boolean checked) {
        this.launch = launch;
        this.checked = checked;
    }

    /** A server that is started so. */
    public static ServerExtension of(Launch launch) {
        return new ServerExtension(launch, false);
    }

    /** A server of the example models with these flags besides. */
    public static ServerExtension ofExamples(String... flags) {
        return of(() -> ServerProcess.launch(ServerProcess.exampleModels(), flags));
    }

    /**
     * As {@link #ofExamples}; after each test the server must hold what it held before: no region, no buffer lent, no more
     * native tensors and descriptors; and it must answer correctly. Tests therefore ask models of ONNX Runtime for
     * inferences that succeed only by {@link #assertAnswers}, since the engine may keep what it made for them.
     */
    public static ServerExtension checkedForLeaks(String... flags) {
        return new ServerExtension(() -> ServerProcess.launch(ServerProcess.exampleModels(), flags), true);
    }

    /** The server, once tests run. */
    public ServerProcess process() {
        return process;
    }

    /** A client by HTTP. */
    public HttpApi http() {
        return http;
    }

    /** A client by gRPC. */
    public GrpcClient grpc() {
        return grpc;
    }

    /** A connection to send bytes of HTTP by. */
    public RawHttp rawHttp() throws IOException {
        return RawHttp.connect(httpAddress());
    }

    /** A URL of the HTTP listener. */
    public URI http(String path) {
        return process.http(path);
    }

    /** The HTTP listener's port. */
    public int httpPort() {
        return process.httpPort();
    }

    /** The gRPC listener's port. */
    public int grpcPort() {
        return process.grpcPort();
    }

    /** Where HTTP is spoken. */
    public InetSocketAddress httpAddress() {
        return address(process.httpPort());
    }

    /** Where gRPC is spoken. */
    public InetSocketAddress grpcAddress() {
        return address(process.grpcPort());
    }

    private static InetSocketAddress address(int port) {
        return new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port);
    }

    /** Waits until at least so many bytes of the buffer pool are lent. */
    public void awaitLentBytes(long byteSize) {
        Await.until(
                "%s bytes lent, %d expected".formatted(http.metric(LENT_BYTES), byteSize),
                () -> http.metric(LENT_BYTES) >= byteSize);
    }

    /**
     * Asks for the next inference over both protocols. Memory that the engine keeps for later inferences is no leak.
     */
    public void assertAnswers() {
        double before = http.metric(LIVE_VALUES);
        HttpResponse<String> next = http.post("/v2/models/simple/infer", SimpleModel.json());
        assertThat(next.statusCode()).as(next.body()).isEqualTo(200);
        assertThat(next.body())
                .contains(SimpleModel.jsonData(SimpleModel.SUM), SimpleModel.jsonData(SimpleModel.DIFFERENCE));
        ModelInferResponse response = grpc.service().modelInfer(SimpleModel.grpc());
        assertThat(SimpleModel.values(response.getRawOutputContents(0).asReadOnlyByteBuffer()))
                .isEqualTo(SimpleModel.SUM);
        liveValues += http.metric(LIVE_VALUES) - before;
    }

    @Override
    public void beforeAll(ExtensionContext context) throws Exception {
        process = launch.start();
        if (checked) {
            assertAnswers();
            http.metric(LENT_BYTES);
            descriptors = openDescriptors();
        }
    }

    @Override
    public void beforeEach(ExtensionContext context) {
        if (checked) {
            liveValues = http.metric(LIVE_VALUES);
        }
    }

    @Override
    public void afterEach(ExtensionContext context) {
        if (!checked) {
            return;
        }
        String regions = http.get("/v2/systemsharedmemory/status").body();
        http.post("/v2/systemsharedmemory/unregister", "");
        assertThat(regions).isEqualTo("[]");
        // A connection that a test broke off is noticed soon, but not before the test ends.
        Await.until(
                "%d descriptors, %d at first; %s bytes lent; %s native tensors, %s before"
                        .formatted(
                                openDescriptors(),
                                descriptors,
                                http.metric(LENT_BYTES),
                                http.metric(LIVE_VALUES),
                                liveValues),
                () -> !(openDescriptors() > descriptors
                        || http.metric(LENT_BYTES) > 0
                        || http.metric(LIVE_VALUES) > liveValues));
        assertAnswers();
    }

    private int openDescriptors() {
        File[] open = new File("/proc/" + process.handle().pid() + "/fd").listFiles();
        return Objects.requireNonNull(open, "/proc cannot be read").length;
    }

    @Override
    public void afterAll(ExtensionContext context) {
        grpc.close();
        http.close();
        if (process != null) {
            process.close();
        }
    }
}
