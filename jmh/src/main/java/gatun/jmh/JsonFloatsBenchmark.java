// SPDX-License-Identifier: Apache-2.0
package gatun.jmh;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import gatun.http.json.JsonReader;
import gatun.http.json.TensorDataReader;
import gatun.memory.tensor.Datatype;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import java.util.concurrent.TimeUnit;
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

/** A JSON array of 100,000 floats into a native FP32 tensor: our reader beside jackson's tree. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(
        value = 2,
        jvmArgsAppend = {"-Xms2g", "-Xmx2g"})
public class JsonFloatsBenchmark {
    private static final int COUNT = 100_000;

    /** How the numbers are written: the shortest text of a float, or the 17 digits that Python gives its doubles. */
    @Param({"shortest", "python"})
    public String digits = "shortest";

    private final Arena arena = Arena.ofConfined();
    private final TensorDataReader data = new TensorDataReader();
    private final ObjectMapper mapper = new ObjectMapper();
    private MemorySegment text = MemorySegment.NULL;
    private MemorySegment tensor = MemorySegment.NULL;
    private byte[] heap = {};

    /** Writes the array, and checks that both ways read the same. */
    @Setup(Level.Trial)
    public void write() throws IOException {
        Random random = new Random(1);
        StringBuilder array = new StringBuilder("[");
        for (int i = 0; i < COUNT; i++) {
            double value = random.nextGaussian();
            array.append(i == 0 ? "" : ",")
                    .append(digits.equals("python") ? Double.toString(value) : Float.toString((float) value));
        }
        heap = array.append(']').toString().getBytes(StandardCharsets.US_ASCII);
        text = arena.allocate(heap.length).copyFrom(MemorySegment.ofArray(heap));
        tensor = arena.allocate((long) COUNT * Float.BYTES, 64);
        float tree = jacksonTree();
        if (tree != ours()) {
            throw new IllegalStateException("the two ways disagree");
        }
    }

    /** Ours, from native text. */
    @Benchmark
    public float ours() {
        new JsonReader(text, 0, text.byteSize()).readTensor(data.into("IN", Datatype.FP32, COUNT, tensor));
        return tensor.getAtIndex(ValueLayout.JAVA_FLOAT, COUNT - 1);
    }

    /** jackson's tree, from the heap, and its numbers into the tensor. */
    @Benchmark
    public float jacksonTree() throws IOException {
        JsonNode tree = mapper.readTree(heap);
        for (int i = 0; i < COUNT; i++) {
            tensor.setAtIndex(ValueLayout.JAVA_FLOAT, i, tree.get(i).floatValue());
        }
        return tensor.getAtIndex(ValueLayout.JAVA_FLOAT, COUNT - 1);
    }

    /** Gives the memory back. */
    @TearDown(Level.Trial)
    public void close() {
        arena.close();
    }
}
