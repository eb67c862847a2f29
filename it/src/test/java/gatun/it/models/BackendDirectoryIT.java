// SPDX-License-Identifier: Apache-2.0
package gatun.it.models;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import gatun.it.harness.GrpcClient;
import gatun.it.harness.ServerProcess;
import gatun.wire.inference.InferParameter;
import gatun.wire.inference.ModelInferRequest;
import gatun.wire.inference.ModelInferResponse;
import gatun.wire.inference.RepositoryIndexRequest;
import gatun.wire.inference.RepositoryIndexResponse.ModelIndex;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The example backend as a plugin of the real server, beside jars that cannot be loaded. */
@Timeout(120)
class BackendDirectoryIT {
    private static final Path JAR = ServerProcess.root().resolve("examples/backend/target/backends/affine.jar");
    private static final Path MODELS = ServerProcess.root().resolve("examples/backend/models");

    @TempDir
    Path folder;

    private static ModelInferRequest request(String model, float... values) {
        ByteBuffer bytes = ByteBuffer.allocate(values.length * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            bytes.putFloat(value);
        }
        return ModelInferRequest.newBuilder()
                .setModelName(model)
                .addInputs(ModelInferRequest.InferInputTensor.newBuilder()
                        .setName("X")
                        .setDatatype("FP32")
                        .addShape(values.length))
                .addRawInputContents(ByteString.copyFrom(bytes.flip()))
                .build();
    }

    private static float[] answer(ModelInferResponse response) {
        ByteBuffer bytes =
                response.getRawOutputContents(0).asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN);
        float[] values = new float[bytes.remaining() / Float.BYTES];
        for (int i = 0; i < values.length; i++) {
            values[i] = bytes.getFloat();
        }
        return values;
    }

    private void model(String name, String config) throws IOException {
        Files.createDirectories(folder.resolve("models").resolve(name).resolve("1"));
        Files.writeString(folder.resolve("models").resolve(name).resolve("config.pbtxt"), config);
    }

    private static String reason(GrpcClient grpc, String model) {
        List<ModelIndex> index = grpc.service()
                .repositoryIndex(RepositoryIndexRequest.getDefaultInstance())
                .getModelsList();
        return index.stream()
                .filter(entry -> entry.getName().equals(model))
                .map(ModelIndex::getReason)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldServeAModelOfABackendThatIsNoPartOfTheServer() throws Exception {
        try (ServerProcess server = ServerProcess.launch(MODELS, "--backend-directory=" + JAR.getParent());
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            ModelInferResponse response = grpc.service().modelInfer(request("fahrenheit", -40, 0, 100));
            assertThat(answer(response)).containsExactly(-40, 32, 212);
            assertThat(response.getOutputs(0).getName()).isEqualTo("Y");
            assertThat(response.getParametersOrThrow("scale"))
                    .isEqualTo(InferParameter.newBuilder().setDoubleParam(1.8f).build());
        }
    }

    @Test
    void shouldGiveThePluginItsOptions() throws Exception {
        model("plain", "backend: \"affine\"");
        Path backends = Files.createDirectories(folder.resolve("backends").resolve("affine"));
        Files.copy(JAR, backends.resolve("any-name.jar"));
        try (ServerProcess server = ServerProcess.launch(
                        folder.resolve("models"),
                        "--backend-directory=" + backends.getParent(),
                        "--backend-config=affine,scale=3",
                        "--backend-config=affine,offset=-1");
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            assertThat(answer(grpc.service().modelInfer(request("plain", 1, 2))))
                    .containsExactly(2, 5);
        }
    }

    @Test
    void shouldTellOfJarsThatCannotBeLoadedAndServeTheRest() throws Exception {
        Path backends = Files.createDirectories(folder.resolve("backends"));
        Files.copy(JAR, backends.resolve("affine.jar"));
        Files.writeString(backends.resolve("a-broken.jar"), "this is no jar");
        jar(backends.resolve("b-empty.jar"), "unrelated.txt", "nothing");
        jar(backends.resolve("c-missing.jar"), "META-INF/services/gatun.spi.Backend", "com.example.missing.Backend");
        Files.createDirectories(backends.resolve("triton"));
        Files.writeString(backends.resolve("triton").resolve("libtriton_x.so"), "");
        model("plain", "backend: \"affine\"");
        model("lost", "backend: \"missing\"");
        try (ServerProcess server = ServerProcess.launch(
                        folder.resolve("models"), "--backend-directory=" + backends, "--exit-on-error=false");
                GrpcClient grpc = GrpcClient.tcp(server.grpcPort())) {
            server.expectErrors();
            assertThat(answer(grpc.service().modelInfer(request("plain", 4)))).containsExactly(4);
            assertThat(reason(grpc, "lost"))
                    .startsWith(
                            "unable to find backend library for backend 'missing', try specifying runtime on the model"
                                    + " configuration. Known backends: affine, ")
                    .contains("a-broken.jar could not be loaded: java.util.zip.ZipException")
                    .contains("b-empty.jar could not be loaded: ")
                    .contains("names no backend in META-INF/services/gatun.spi.Backend")
                    .contains("c-missing.jar could not be loaded: ")
                    .contains("com.example.missing.Backend not found");
        }
    }

    private static void jar(Path file, String entry, String text) throws IOException {
        try (OutputStream out = Files.newOutputStream(file);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            zip.putNextEntry(new ZipEntry(entry));
            zip.write(text.getBytes(StandardCharsets.UTF_8));
            zip.closeEntry();
        }
    }
}
