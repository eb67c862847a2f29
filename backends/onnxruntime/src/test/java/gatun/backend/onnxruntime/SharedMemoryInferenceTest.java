// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import gatun.backend.onnxruntime.Engine.LiveHandles;
import gatun.memory.regions.RegionRegistry.Access;
import gatun.memory.regions.SharedMemoryObject;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.RequestedOutput;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import gatun.testing.OnnxFile;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The engine reads and writes memory that belongs to a client. */
@Timeout(120)
class SharedMemoryInferenceTest {
    private static final int LARGE = 16 << 20;

    @TempDir
    Path repository;

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(
            256 << 20, () -> assertThat(LiveHandles.values()).as("live values").isZero());

    private final SharedRegions regions = runtime.regions();
    private GatunServer server;

    @BeforeEach
    void open() {
        OnnxFile.write(
                repository.resolve("negate").resolve("1"),
                "Neg",
                List.of(OnnxValues.of("IN", Datatype.FP32, "1", "n")),
                List.of(OnnxValues.of("OUT", Datatype.FP32, "1", "n")),
                "",
                0);
        server = runtime.serve(repository);
        assertThat(server.ready()).as("%s", server.index()).isTrue();
    }

    @Test
    void shouldReadAndWriteTheClientsMemory() {
        try (SharedMemoryObject memory = posix(8192)) {
            regions.register("r", memory.key(), 0, 8192);
            for (int i = 0; i < 100; i++) {
                memory.segment().set(ValueLayout.JAVA_FLOAT, 256 + i * 4L, i);
            }
            try (InferenceResponse response = server.infer(request(256, 4100, 400, 400))) {
                OutputTensor output = response.outputs().getFirst();
                assertThat(output.inSharedMemory()).isTrue();
                assertThat(output.tensor().spec().shape()).isEqualTo(Shape.of(1, 100));
            }
            for (int i = 0; i < 100; i++) {
                assertThat(memory.segment().get(ValueLayout.JAVA_FLOAT, 4100 + i * 4L))
                        .isEqualTo(0f - i);
            }
            regions.unregister("r");
        }
    }

    @Test
    void shouldRefuseAWindowThatIsTooSmallForTheOutput() {
        try (SharedMemoryObject memory = posix(8192)) {
            regions.register("r", memory.key(), 0, 8192);
            assertThatThrownBy(() -> server.infer(request(0, 4096, 400, 396)))
                    .hasMessage(
                            "shared memory size specified with the request for output 'OUT' (396 bytes) should be at"
                                    + " least"
                                    + " 400 bytes to hold the results");
            regions.unregister("r");
        }
    }

    @Test
    void shouldFailTheRequestAloneWhenTheClientTakesItsMemoryAway() {
        assumeTrue(
                regions.protection().startsWith("zero-copy"),
                () -> "regions are copied here and cannot break under the engine: " + regions.protection());
        try (SharedMemoryObject kept = posix(LARGE);
                SharedMemoryObject memory = posix(2L * LARGE)) {
            regions.register("kept", kept.key(), 0, LARGE);
            regions.register("r", memory.key(), 0, 2L * LARGE);
            InferenceRequest request = request(0, LARGE, LARGE, LARGE);
            memory.resize(4096);
            assertThatThrownBy(() -> server.infer(request).close())
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT));
            try (InferenceResponse response = server.infer(pooledAnswer("kept", LARGE))) {
                MemorySegment bytes = response.outputs().getFirst().tensor().bytes();
                assertThat(bytes.byteSize()).isEqualTo(LARGE);
                assertThat(bytes.getAtIndex(ValueLayout.JAVA_FLOAT, 5)).isEqualTo(-0.0f);
            }
            regions.unregisterAll();
        }
    }

    private static SharedMemoryObject posix(long byteSize) {
        return SharedMemoryObject.posix(
                "/gatun-test-" + ProcessHandle.current().pid() + "-" + System.nanoTime(), byteSize);
    }

    /** Input and output in region {@code r}. */
    private InferenceRequest request(long from, long to, long inputSize, long outputSize) {
        InferenceRequest request = new InferenceRequest(server.model("negate", ""));
        input(request, "r", from, inputSize);
        RegionLease target = regions.borrow("r", to, outputSize, Access.WRITE);
        request.hold(target);
        request.addOutput(new RequestedOutput("OUT", Optional.of(target), 0));
        return request;
    }

    private InferenceRequest pooledAnswer(String region, long byteSize) {
        InferenceRequest request = new InferenceRequest(server.model("negate", ""));
        input(request, region, 0, byteSize);
        return request;
    }

    private void input(InferenceRequest request, String region, long offset, long byteSize) {
        RegionLease source = regions.borrow(region, offset, byteSize, Access.READ);
        request.hold(source);
        request.addInput(
                Tensor.inRegion(new TensorSpec("IN", Datatype.FP32, Shape.of(1, byteSize / Float.BYTES)), source));
    }
}
