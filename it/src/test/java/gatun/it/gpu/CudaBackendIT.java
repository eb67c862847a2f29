// SPDX-License-Identifier: Apache-2.0
package gatun.it.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.protobuf.ByteString;
import gatun.it.gpu.RegionClient.Refusal;
import gatun.it.gpu.RegionClient.Window;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerExtension;
import gatun.it.harness.ServerProcess;
import gatun.it.harness.SharedObject;
import gatun.it.harness.SimpleModel;
import gatun.testing.Await;
import gatun.testing.CudaStandIn.Count;
import gatun.testing.CudaStandInCounts;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Kernels as models, for clients whose tensors come in requests, in system memory and in memory of a GPU. */
@Timeout(120)
class CudaBackendIT {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final List<Long> SHAPE = List.of(1L, 16L);

    /** Copies its input, and takes its time. */
    private static final String SLOW = """
            backend: "cuda"
            input [ { name: "FROM" data_type: TYPE_UINT8 dims: [ -1 ] } ]
            output [ { name: "TO" data_type: TYPE_UINT8 dims: [ -1 ] } ]
            instance_group [ { kind: KIND_GPU gpus: [ 0 ] } ]
            parameters { key: "kernels" value { string_value: "copy_bytes, spin_nanoseconds" } }
            parameters { key: "copy_bytes.grid" value { string_value: "ceil(bytes(FROM) / 64)" } }
            parameters { key: "copy_bytes.block" value { string_value: "64" } }
            parameters { key: "copy_bytes.arguments" value { string_value: "FROM, TO, int64 bytes(FROM)" } }
            parameters { key: "spin_nanoseconds.grid" value { string_value: "1" } }
            parameters { key: "spin_nanoseconds.block" value { string_value: "1" } }
            parameters { key: "spin_nanoseconds.arguments" value { string_value: "int64 %d" } }
            parameters { key: "shape.TO" value { string_value: "dim(FROM, 0)" } }
            """;

    @TempDir
    static Path folder;

    private static Path repository;
    private static CudaStandInCounts counts;

    @RegisterExtension
    static final ServerExtension server = ServerExtension.of(CudaBackendIT::start);

    private static final HttpApi http = server.http();

    private static final GrpcClient grpc = server.grpc();

    private static ServerProcess start() throws Exception {
        Map<String, String> environment = new HashMap<>(CudaClient.environment());
        counts = new CudaStandInCounts(folder.resolve("counts"));
        environment.put(CudaStandInCounts.VARIABLE, counts.file().toString());
        repository = Files.createDirectories(folder.resolve("models"));
        for (String model : List.of("simple_gpu", "normalise_transpose", "mlp_gpu", "mlp_onnx")) {
            example(repository, model, model, "");
        }
        probe(repository, "slow", SLOW.formatted(300_000_000));
        return ServerProcess.launch(
                repository, environment, "--allow-client-shm", "--model-control-mode=explicit", "--load-model=*");
    }

    /** Adds an example model under a name of its own, with {@code instances} for its instance group. */
    private static void example(Path repository, String example, String name, String instances) throws IOException {
        Path source = ServerProcess.root().resolve("examples/models-gpu").resolve(example);
        try (Stream<Path> files = Files.walk(source)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path target =
                        repository.resolve(name).resolve(source.relativize(file).toString());
                Files.createDirectories(target.getParent());
                Files.copy(file, target);
            }
        }
        Path config = repository.resolve(name).resolve("config.pbtxt");
        if (Files.exists(config)) {
            Files.writeString(
                    config,
                    Files.readString(config)
                            .replace("name: \"" + example + "\"", "")
                            .replace("count: 1", "count: 1 " + instances));
        }
    }

    /** Adds a model of the kernels that are there for tests. */
    private static void probe(Path repository, String name, String config) throws IOException {
        Path version = Files.createDirectories(repository.resolve(name).resolve("1"));
        Files.writeString(repository.resolve(name).resolve("config.pbtxt"), config);
        Files.copy(ServerProcess.root().resolve("examples/kernels/probe.ptx"), version.resolve("model.ptx"));
    }

    enum Protocol {
        HTTP,
        GRPC;

        RegionClient client() {
            return this == HTTP ? new RegionClient.Http(http) : new RegionClient.Grpc(grpc);
        }

        Optional<Refusal> simple(String model, String region) {
            return client().infer(
                            model,
                            List.of(
                                    new Window("INPUT0", "INT32", SHAPE, region, 0, 64),
                                    new Window("INPUT1", "INT32", SHAPE, region, 64, 64)),
                            List.of(
                                    new Window("OUTPUT0", "INT32", SHAPE, region, 128, 64),
                                    new Window("OUTPUT1", "INT32", SHAPE, region, 192, 64)));
        }
    }

    @Test
    void shouldAnswerTensorsInRequests() {
        requireAnswers();
    }

    private static void requireAnswers() {
        HttpResponse<String> json = http.post("/v2/models/simple_gpu/infer", SimpleModel.json());
        assertThat(json.statusCode()).as(json.body()).isEqualTo(200);
        assertThat(json.body())
                .contains(SimpleModel.jsonData(SimpleModel.SUM), SimpleModel.jsonData(SimpleModel.DIFFERENCE));
        for (ModelInferRequest request : List.of(SimpleModel.grpc(), SimpleModel.grpcTyped())) {
            ModelInferResponse response = grpc.service()
                    .modelInfer(request.toBuilder().setModelName("simple_gpu").build());
            assertThat(SimpleModel.values(response.getRawOutputContents(0).asReadOnlyByteBuffer()))
                    .isEqualTo(SimpleModel.SUM);
            assertThat(SimpleModel.values(response.getRawOutputContents(1).asReadOnlyByteBuffer()))
                    .isEqualTo(SimpleModel.DIFFERENCE);
        }
    }

    private static ByteBuffer ask(String model, String input, String datatype, List<Long> shape, ByteBuffer bytes) {
        ModelInferRequest request = ModelInferRequest.newBuilder()
                .setModelName(model)
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName(input)
                        .setDatatype(datatype)
                        .addAllShape(shape))
                .addRawInputContents(ByteString.copyFrom(bytes))
                .build();
        return grpc.service()
                .modelInfer(request)
                .getRawOutputContents(0)
                .asReadOnlyByteBuffer()
                .order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void shouldAnswerShapesThatFollowFromTheRequests() {
        int height = 5;
        int width = 7;
        byte[] pixels = new byte[2 * height * width * 3];
        for (int i = 0; i < pixels.length; i++) {
            pixels[i] = (byte) (i * 11);
        }
        ByteBuffer answer =
                ask("normalise_transpose", "IMAGE", "UINT8", List.of(2L, 5L, 7L, 3L), ByteBuffer.wrap(pixels));

        assertThat(answer.remaining()).isEqualTo(pixels.length * Float.BYTES);
        int area = height * width;
        float blueOfLast = Byte.toUnsignedInt(pixels[pixels.length - 1]) / 255f;
        assertThat(answer.getFloat(0))
                .isCloseTo((Byte.toUnsignedInt(pixels[0]) / 255f - 0.485f) / 0.229f, within(1e-5f));
        assertThat(answer.getFloat(area * Float.BYTES))
                .isCloseTo((Byte.toUnsignedInt(pixels[1]) / 255f - 0.456f) / 0.224f, within(1e-5f));
        assertThat(answer.getFloat(answer.limit() - Float.BYTES))
                .isCloseTo((blueOfLast - 0.406f) / 0.225f, within(1e-5f));
    }

    @Test
    void shouldAnswerAsOnnxRuntimeDoesWithTheSameNetwork() {
        for (int rows : new int[] {1, 2, 17, 64}) {
            ByteBuffer x = ByteBuffer.allocate(rows * 4 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            for (int i = 0; i < rows * 4; i++) {
                x.putFloat((i * 37 % 101) / 25f - 2);
            }
            List<Long> shape = List.of((long) rows, 4L);
            ByteBuffer expected = ask("mlp_onnx", "x", "FP32", shape, x.rewind());
            ByteBuffer answered = ask("mlp_gpu", "x", "FP32", shape, x.rewind());

            assertThat(answered.remaining()).isEqualTo(rows * 3 * Float.BYTES).isEqualTo(expected.remaining());
            for (int i = 0; i < answered.limit(); i += Float.BYTES) {
                assertThat(answered.getFloat(i)).isCloseTo(expected.getFloat(i), within(1e-4f));
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldTakeTensorsInSystemSharedMemory(Protocol protocol) throws Exception {
        try (SharedObject object = SharedObject.create(256)) {
            object.write(0, SimpleModel.bytes(SimpleModel.LEFT));
            object.write(64, SimpleModel.bytes(SimpleModel.RIGHT));
            assertThat(http.register("s", object.key(), "0", "256").statusCode())
                    .isEqualTo(200);
            assertThat(protocol.simple("simple_gpu", "s")).isEmpty();
            assertThat(SimpleModel.values(object.read(128, 64))).isEqualTo(SimpleModel.SUM);
            assertThat(SimpleModel.values(object.read(192, 64))).isEqualTo(SimpleModel.DIFFERENCE);
            assertThat(http.unregister("s").statusCode()).isEqualTo(200);
        }
    }

    /** What a kernel does with an element that changes meanwhile, nobody knows. */
    @ParameterizedTest
    @EnumSource
    void shouldRunOnCopiesOnTheGpuThatTheClientCannotChange(Protocol protocol) throws Exception {
        example(repository, "simple_gpu", "simple_on_0_" + protocol, "gpus: [ 0 ]");
        String model = "simple_on_0_" + protocol;
        assertThat(http.post("/v2/repository/models/" + model + "/load", "").statusCode())
                .isEqualTo(200);
        try (CudaClient client = CudaClient.launch(0, 256)) {
            client.write(0, SimpleModel.bytes(SimpleModel.LEFT));
            client.write(64, SimpleModel.bytes(SimpleModel.RIGHT));
            assertThat(protocol.client().register("g", client.handle(), 0, 256)).isEmpty();
            long copies = counts.count(Count.COPIES);
            long launches = counts.count(Count.LAUNCHES);

            assertThat(protocol.simple(model, "g")).isEmpty();

            if (Files.exists(counts.file())) {
                assertThat(counts.count(Count.LAUNCHES)).isEqualTo(launches + 1);
                assertThat(counts.count(Count.COPIES))
                        .as("of two inputs and two outputs")
                        .isEqualTo(copies + 4);
            }
            assertThat(SimpleModel.values(ByteBuffer.wrap(client.read(128, 64))))
                    .isEqualTo(SimpleModel.SUM);
            assertThat(SimpleModel.values(ByteBuffer.wrap(client.read(192, 64))))
                    .isEqualTo(SimpleModel.DIFFERENCE);
            protocol.client().unregister("g");
        }
    }

    @Test
    void shouldOutliveAClientThatIsKilledDuringItsRequest() throws Exception {
        try (CudaClient client = CudaClient.launch(0, 128)) {
            client.write(0, new byte[128]);
            assertThat(Protocol.HTTP.client().register("orphan", client.handle(), 0, 128))
                    .isEmpty();
            long launches = counts.count(Count.LAUNCHES);
            CompletableFuture<Optional<Refusal>> answer = CompletableFuture.supplyAsync(() -> Protocol.HTTP
                    .client()
                    .infer(
                            "slow",
                            List.of(new Window("FROM", "UINT8", List.of(64L), "orphan", 0, 64)),
                            List.of(new Window("TO", "UINT8", List.of(), "orphan", 64, 64))));
            if (Files.exists(counts.file())) {
                Await.until("its kernels were launched", () -> counts.count(Count.LAUNCHES) >= launches + 2);
            }
            client.kill();
            // The memory is gone or not: either way there is a response.
            assertThat(answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS)).isNotNull();
        }
        Protocol.HTTP.client().unregister("orphan");
        requireAnswers();
    }

    @Test
    void shouldGiveEverythingBackWhenAModelIsUnloaded() throws Exception {
        probe(repository, "passing", SLOW.formatted(1));
        Map<Count, Long> before = counts.held();
        for (int round = 0; round < 3; round++) {
            assertThat(http.post("/v2/repository/models/passing/load", "").statusCode())
                    .isEqualTo(200);
            assertThat(ask("passing", "FROM", "UINT8", List.of(9L), ByteBuffer.wrap(new byte[9]))
                            .remaining())
                    .isEqualTo(9);
            assertThat(http.post("/v2/repository/models/passing/unload", "").statusCode())
                    .isEqualTo(200);
        }
        Await.until("everything was given back", () -> {
            Map<Count, Long> now = counts.held();
            // Fewer, where regions that earlier tests have unregistered were closed only meanwhile.
            return Stream.of(Count.MODULES, Count.STREAMS, Count.EVENTS, Count.MAPPINGS, Count.ALLOCATIONS)
                    .allMatch(
                            what -> Objects.requireNonNull(now.get(what)) <= Objects.requireNonNull(before.get(what)));
        });
    }

    @Test
    void shouldSayWhatIsWrongWithAModelsParameters() throws Exception {
        probe(repository, "broken", SLOW.formatted(1).replace("ceil(bytes(FROM) / 64)", "ceil(bytes(FRON) / 64)"));
        HttpResponse<String> refused = http.post("/v2/repository/models/broken/load", "");

        assertThat(refused.statusCode()).isEqualTo(400);
        assertThat(refused.body())
                .contains("model 'broken': parameter 'copy_bytes.grid': at position 12 of")
                .contains("found 'FRON', expected the name of a tensor, of FROM, TO");
        Files.delete(repository.resolve("broken/config.pbtxt"));
    }

    @Test
    void shouldTakeTheModelsOfALostGpuOutOfServiceAndServeTheOthers() throws Exception {
        Path models = Files.createDirectories(folder.resolve("lost-models"));
        // On a machine with one GPU, that one.
        int lost = Math.min(1, CudaClient.count() - 1);
        if (lost > 0) {
            example(models, "simple_gpu", "on_0", "gpus: [ 0 ]");
        }
        example(models, "simple_gpu", "on_lost", "gpus: [ %d ]".formatted(lost));
        example(models, "mlp_onnx", "on_cpu", "");
        probe(models, "small", SLOW.formatted(1));
        probe(models, "breaks", """
                backend: "cuda"
                input [ { name: "X" data_type: TYPE_INT32 dims: [ 1 ] } ]
                output [ { name: "Y" data_type: TYPE_INT32 dims: [ 1 ] } ]
                instance_group [ { kind: KIND_GPU gpus: [ %d ] } ]
                parameters { key: "kernels" value { string_value: "fault" } }
                parameters { key: "fault.grid" value { string_value: "1" } }
                parameters { key: "fault.block" value { string_value: "1" } }
                parameters { key: "fault.arguments" value { string_value: "Y" } }
                """.formatted(lost));
        try (ServerProcess other = ServerProcess.launch(
                                models, CudaClient.environment(), "--cuda-memory-pool-byte-size=0:65536")
                        .expectErrors();
                HttpApi api = new HttpApi(other)) {
            HttpResponse<String> large = api.post("/v2/models/small/infer", zeros("FROM", "UINT8", 100_000));
            assertThat(large.statusCode()).isEqualTo(400);
            assertThat(large.body()).contains("--cuda-memory-pool-byte-size=0:<bytes>");

            HttpResponse<String> broken = api.post("/v2/models/breaks/infer", zeros("X", "INT32", 1));
            assertThat(broken.statusCode()).as(broken.body()).isEqualTo(503);
            assertThat(broken.body())
                    .contains("model 'breaks': kernel 'fault' with grid [1, 1, 1] and block [1, 1, 1]")
                    .contains("GPU " + lost + " has failed")
                    .contains("CUDA_ERROR_ILLEGAL_ADDRESS");

            for (String model : List.of("on_lost", "breaks")) {
                assertThat(api.get("/v2/models/" + model + "/ready").statusCode())
                        .as(model)
                        .isNotEqualTo(200);
            }
            HttpResponse<String> refused = api.post("/v2/models/on_lost/infer", SimpleModel.json());
            assertThat(refused.statusCode()).as(refused.body()).isBetween(400, 503);
            assertThat(refused.body()).contains("on_lost");
            String index = api.post("/v2/repository/index", "").body();
            assertThat(index).containsPattern("\"on_lost\"[^}]*UNAVAILABLE[^}]*GPU " + lost + " has failed");
            if (lost > 0) {
                assertThat(index).containsPattern("\"on_0\"[^}]*READY");
                HttpResponse<String> served = api.post("/v2/models/on_0/infer", SimpleModel.json());
                assertThat(served.statusCode()).as(served.body()).isEqualTo(200);
                assertThat(api.get("/v2/models/on_0/ready").statusCode()).isEqualTo(200);
            }
            assertThat(api.post(
                                    "/v2/models/on_cpu/infer",
                                    "{\"inputs\": [{\"name\": \"x\", \"datatype\": \"FP32\","
                                            + " \"shape\": [1, 4], \"data\": [1, 2, 3, 4]}]}")
                            .statusCode())
                    .isEqualTo(200);
            assertThat(api.get("/v2/health/live").statusCode()).isEqualTo(200);
        }
    }

    private static String zeros(String input, String datatype, int count) {
        return "{\"inputs\": [{\"name\": \"%s\", \"datatype\": \"%s\", \"shape\": [%d], \"data\": [0%s]}]}"
                .formatted(input, datatype, count, ", 0".repeat(count - 1));
    }
}
