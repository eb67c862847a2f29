// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.SharedRegions;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.ModelVersion;
import gatun.runtime.server.GatunServer;
import gatun.runtime.server.ServerOptions;
import gatun.spi.BackendInstance;
import gatun.spi.Device;
import gatun.spi.InstanceSpec;
import gatun.testing.OnnxFile;
import gatun.testing.executions.RecordedExecution;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What a load does that nobody has asked for. */
@Timeout(120)
class OnnxWarmUpTest {
    @TempDir
    Path folder;

    @Test
    void shouldServeAModelWhoseFirstRunWouldTakeMinutes() {
        OnnxFile.Value input = OnnxValues.of("X", Datatype.FP32, "n", "1024", "1024");
        OnnxFile.Value output = OnnxValues.of("Y", Datatype.FP32, "n", "1024", "1024");
        OnnxFile.writeProducts(folder.resolve("slow/1"), input, output, 4_000);
        try (BufferPool pool = new BufferPool(64 << 20);
                SharedRegions regions = SharedRegions.open(pool);
                GatunServer server =
                        GatunServer.open(ServerOptions.of(pool, regions).repository(folder))) {
            ModelVersion model = server.model("slow", "");
            assertThat(model.ready()).isTrue();
            assertThat(model.unbatched()).get().asString().contains("longer than a second");
            assertThat(model.config().getMaxBatchSize()).isPositive();
            assertThat(model.config().hasDynamicBatching()).isFalse();
        }
    }

    @Test
    void shouldGiveBackTheMemoryThatALargeRunNeeded() throws IOException {
        int rows = 8192;
        int size = 64;
        long between = (long) rows * size * size * Float.BYTES;
        OnnxFile.writeProducts(
                folder,
                OnnxValues.of("X", Datatype.FP32, "n", size + "", size + ""),
                OnnxValues.of("Y", Datatype.FP32, "n", size + "", size + ""),
                3);
        OnnxRuntimeBackend backend = new OnnxRuntimeBackend();
        backend.start(Map.of());
        ModelConfig config =
                backend.complete(ModelConfig.newBuilder().setName("m").build(), folder);
        Shape shape = Shape.of(rows, size, size);
        try (BackendInstance instance = backend.load(config, folder).newInstance(new InstanceSpec("m", 1, Device.CPU));
                Arena arena = Arena.ofConfined()) {
            Tensor input = new Tensor(
                    new TensorSpec("X", Datatype.FP32, shape),
                    arena.allocate(shape.byteSize(Datatype.FP32), 64).fill((byte) 0));
            RecordedExecution execution = new RecordedExecution("Y").input(input);
            instance.execute(execution);
            long before = residentBytes();

            instance.trimMemory();

            // Both products that came before the last one.
            assertThat(before - residentBytes()).isGreaterThan(between * 3 / 2);
            instance.execute(execution);
            assertThat(execution.output("Y").byteSize()).isEqualTo(between);
        }
        backend.close();
    }

    private static long residentBytes() throws IOException {
        String field = "VmRSS:";
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                        .filter(line -> line.startsWith(field))
                        .mapToLong(line -> Long.parseLong(
                                line.substring(field.length()).replace("kB", "").strip()))
                        .sum()
                * 1024;
    }
}
