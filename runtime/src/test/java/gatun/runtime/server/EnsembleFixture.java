// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static java.nio.file.StandardOpenOption.APPEND;
import static java.nio.file.StandardOpenOption.CREATE;
import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelOverride;
import gatun.spi.Execution;
import gatun.testing.Await;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** Ensembles of scripted members that compute with vectors. */
abstract class EnsembleFixture {
    static final String VECTOR = "data_type: TYPE_FP32 dims: [ -1 ]";

    @TempDir
    Path repository;

    TestServer test;

    /** Where the inputs of each run lay, by the name of the run's first output. */
    final Map<String, Long> inputAddresses = new ConcurrentHashMap<>();

    /**
     * Where inputs and outputs of all runs lay, in no certain order, by names as in "SUM" for the output and "SUM<A"
     * for an input of its run.
     */
    final Map<String, List<Long>> addresses = new ConcurrentHashMap<>();

    /** The number that NEXT adds. */
    volatile int increment = 1;

    /** Actions that runs take before they compute, by the name of the run's first output. */
    final Map<String, Runnable> before = new ConcurrentHashMap<>();

    /** As {@link #before}, for actions that depend on the first element of the first input. */
    final Map<String, Consumer<Float>> beforeElement = new ConcurrentHashMap<>();

    @BeforeEach
    void prepare() {
        test = new TestServer(repository);
    }

    @AfterEach
    void close() {
        test.close();
        assertThat(test.pool.usedBytes()).as("memory that nobody gave back").isZero();
    }

    /**
     * Does the work of a member, which is known by its first output: TWICE doubles, NEXT adds one, SUM adds two
     * vectors, SAME moves nothing. EACH is decoupled and gives a response for each element, TIMES each element as often
     * as it counts.
     */
    void compute(Execution execution) {
        String output = execution.outputName(0);
        inputAddresses.put(output, execution.input(0).bytes().address());
        for (int i = 0; i < execution.inputCount(); i++) {
            Tensor each = execution.input(i);
            saw(output + "<" + each.spec().name(), each.bytes());
        }
        Tensor input = execution.input(0);
        if (output.equals("EACH") || output.equals("TIMES")) {
            stream(execution, output, input);
            return;
        }
        before.getOrDefault(output, () -> {}).run();
        beforeElement.getOrDefault(output, element -> {}).accept(input.bytes().get(ValueLayout.JAVA_FLOAT, 0));
        if (output.equals("SAME")) {
            execution.outputFromInput(0, 0, input.spec().shape());
            return;
        }
        MemorySegment made = execution.output(
                0, Datatype.FP32, input.spec().shape(), input.bytes().byteSize());
        saw(output, made);
        for (int i = 0; i < input.bytes().byteSize() / Float.BYTES; i++) {
            float value = input.bytes().getAtIndex(ValueLayout.JAVA_FLOAT, i);
            float result =
                    switch (output) {
                        case "TWICE" -> 2 * value;
                        case "NEXT" -> value + increment;
                        case "SUM" ->
                            value
                                    + (execution.inputCount() < 2
                                            ? 0
                                            : execution.input(1).bytes().getAtIndex(ValueLayout.JAVA_FLOAT, i));
                        default -> throw new AssertionError(output);
                    };
            made.setAtIndex(ValueLayout.JAVA_FLOAT, i, result);
        }
    }

    private void saw(String name, MemorySegment bytes) {
        addresses.computeIfAbsent(name, any -> new CopyOnWriteArrayList<>()).add(bytes.address());
    }

    private void stream(Execution execution, String output, Tensor input) {
        for (int i = 0; i < input.bytes().byteSize() / Float.BYTES; i++) {
            float element = input.bytes().getAtIndex(ValueLayout.JAVA_FLOAT, i);
            int count = output.equals("EACH") ? 1 : (int) element;
            for (int k = 0; k < count; k++) {
                before.getOrDefault(output, () -> {}).run();
                beforeElement.getOrDefault(output, before -> {}).accept(element);
                MemorySegment made = execution.output(0, Datatype.FP32, Shape.of(1), Float.BYTES);
                saw(output, made);
                made.set(ValueLayout.JAVA_FLOAT, 0, element);
                execution.send();
            }
        }
    }

    static String model(String output, String extra) {
        return "backend: \"scripted\" input [ { name: \"A\" " + VECTOR + " } ] output [ { name: \"" + output + "\" "
                + VECTOR + " } ] " + extra;
    }

    static final String SUM = "backend: \"scripted\" input [ { name: \"A\" " + VECTOR + " }, { name: \"B\" " + VECTOR
            + " optional: true } ] output [ { name: \"SUM\" " + VECTOR + " } ]";

    void members() {
        test.model("twice", model("TWICE", "")).model("next", model("NEXT", "")).model("same", model("SAME", ""));
        test.model("sum", SUM);
    }

    static final String DECOUPLED = "model_transaction_policy { decoupled: true }";

    static String instances(int count) {
        return "instance_group { count: " + count + " }";
    }

    static String step(String model, String inputs, String output) {
        StringBuilder text = new StringBuilder("{ model_name: \"" + model + "\" model_version: -1 ");
        for (String input : inputs.split(" ", -1)) {
            String[] parts = input.split("=", -1);
            text.append("input_map { key: \"" + parts[0] + "\" value: \"" + parts[1] + "\" } ");
        }
        String[] parts = output.split("=", -1);
        return text + "output_map { key: \"" + parts[0] + "\" value: \"" + parts[1] + "\" } }";
    }

    static String ensemble(String inputs, String outputs, String... steps) {
        StringBuilder text = new StringBuilder("platform: \"ensemble\" ");
        for (String input : inputs.split(" ", -1)) {
            boolean optional = input.endsWith("?");
            text.append("input { name: \"" + input.replace("?", "") + "\" " + VECTOR
                    + (optional ? " optional: true" : "") + " } ");
        }
        for (String output : outputs.split(" ", -1)) {
            text.append("output { name: \"" + output + "\" " + VECTOR + " } ");
        }
        return text + "ensemble_scheduling { step [ " + String.join(", ", steps) + " ] }";
    }

    /** An ensemble that doubles a vector, adds one to it beside that, and adds both results. */
    static String diamond(String outputs) {
        return ensemble(
                "IN",
                outputs,
                step("twice", "A=IN", "TWICE=T"),
                step("next", "A=IN", "NEXT=U"),
                step("sum", "A=T B=U", "SUM=OUT"));
    }

    /** An action that waits until two runs are there, and then lets both go on. */
    static Runnable meeting() {
        CyclicBarrier together = new CyclicBarrier(2);
        return () -> {
            try {
                together.await(20, TimeUnit.SECONDS);
            } catch (Exception e) {
                throw new AssertionError("the runs were not side by side", e);
            }
        };
    }

    /** Has NEXT hold the element 0 until it has had {@code others} more. */
    void holdFirst(int others) {
        CountDownLatch had = new CountDownLatch(others);
        beforeElement.put("NEXT", element -> {
            if (element == 0) {
                Await.opened(had);
            } else {
                had.countDown();
            }
        });
    }

    static float[] floats(InferenceResponse response, int output) {
        return response.outputs().get(output).tensor().bytes().toArray(ValueLayout.JAVA_FLOAT);
    }

    /** Loads a model anew, whose version has a longer file than before. */
    void reload(String model) {
        try {
            Files.writeString(repository.resolve(model).resolve("1").resolve("weights"), "1", CREATE, APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        test.server().load(model, ModelOverride.NONE);
    }

    String reason(String model) {
        return test.server().index().stream()
                .filter(status -> status.name().equals(model))
                .findFirst()
                .orElseThrow()
                .reason();
    }
}
