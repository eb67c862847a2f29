// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.ModelVersion;
import gatun.runtime.limits.RequestLimits.RequestUsage;
import gatun.spi.EntryTensor;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * A whole predict request of 100,000 floats, in 100 rows or as one column, into a native FP32 tensor: our reader beside
 * jackson's tree, whose numbers go into an array. In the package of what it measures, which nobody else is to see.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 2,
        jvmArgsAppend = {"-Xms2g", "-Xmx2g"})
public class PredictJsonBenchmark {
    private static final int ROWS = 100;
    private static final int ROW_LENGTH = 1000;

    /** How the numbers are written: the shortest text of a float, or the 17 digits that Python gives its doubles. */
    @Param({"shortest", "python"})
    public String digits = "shortest";

    /** How the tensor is written: in rows of {@code instances}, one number in each, or as {@code inputs}. */
    @Param({"rows", "numbers", "column"})
    public String format = "rows";

    private final Arena arena = Arena.ofConfined();
    private final BufferPool pool = new BufferPool(64L << 20);
    private final ModelVersion model = new OneInput();
    private final ObjectMapper mapper = new ObjectMapper();
    private final float[] array = new float[ROWS * ROW_LENGTH];
    private MemorySegment text = MemorySegment.NULL;
    private byte[] heap = {};

    /** Writes the request, and checks that both ways read the same. */
    @Setup(Level.Trial)
    public void write() throws IOException {
        Random random = new Random(1);
        boolean flat = !format.equals("rows");
        String rows = IntStream.range(0, ROWS)
                .mapToObj(row -> IntStream.range(0, ROW_LENGTH)
                        .mapToObj(i -> number(random.nextGaussian()))
                        .collect(Collectors.joining(", ", flat ? "" : "[", flat ? "" : "]")))
                .collect(Collectors.joining(", ", "[", "]"));
        String key = format.equals("column") ? "inputs" : "instances";
        heap = ("{\"signature_name\": \"serving_default\", \"" + key + "\": " + rows + "}")
                .getBytes(StandardCharsets.US_ASCII);
        text = arena.allocate(heap.length).copyFrom(MemorySegment.ofArray(heap));
        if (jacksonTree() != ours()) {
            throw new IllegalStateException("the two ways disagree");
        }
    }

    private String number(double value) {
        return digits.equals("python") ? Double.toString(value) : Float.toString((float) value);
    }

    /** Ours, from native text. */
    @Benchmark
    public float ours() {
        RequestDocument document = RequestDocument.forPredict(text, 0, text.byteSize(), RequestUsage.standard());
        List<EntryTensor> inputs = Objects.requireNonNull(model.entryPoints().get(document.signatureName()))
                .inputs();
        try (InferenceRequest request = new InferenceRequest(model);
                PredictReader reader = new PredictReader(pool, document, model, inputs)) {
            reader.readInto(request);
            return request.inputs().getFirst().bytes().getAtIndex(ElementLayouts.FP32, array.length - 1);
        }
    }

    /** jackson's tree, from the heap, and its numbers into an array. */
    @Benchmark
    public float jacksonTree() throws IOException {
        JsonNode tree = mapper.readTree(heap);
        JsonNode tensor = tree.get(format.equals("column") ? "inputs" : "instances");
        int at = 0;
        for (JsonNode row : tensor) {
            if (row.isArray()) {
                for (JsonNode value : row) {
                    array[at++] = value.floatValue();
                }
            } else {
                array[at++] = row.floatValue();
            }
        }
        return array[at - 1];
    }

    /** Gives the memory back. */
    @TearDown(Level.Trial)
    public void close() {
        pool.close();
        arena.close();
    }

    /** A model with one input. */
    private record OneInput() implements ModelVersion {
        @Override
        public long version() {
            return 1;
        }

        @Override
        public String versionText() {
            return "1";
        }

        @Override
        public List<TensorSpec> inputs() {
            return List.of(new TensorSpec("x", Datatype.FP32, Shape.of(Shape.VARIABLE, ROW_LENGTH)));
        }

        @Override
        public List<TensorSpec> outputs() {
            return List.of();
        }

        @Override
        public ModelConfig config() {
            return ModelConfig.getDefaultInstance();
        }

        @Override
        public boolean ready() {
            return true;
        }

        @Override
        public List<String> readyVersions() {
            return List.of("1");
        }
    }
}
