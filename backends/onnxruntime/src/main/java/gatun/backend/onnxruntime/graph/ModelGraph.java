// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.memory.tensor.IoFailure;
import gatun.spi.MemoryUse;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * How runs use the memory of a graph's tensors, by name, and why rows of a batch may depend on one another. Immutable.
 * {@code absent} is for other tensors; {@code dependenceOfRows} is empty where nothing shows one.
 */
public record ModelGraph(
        Map<String, MemoryUse> inputs,
        Map<String, MemoryUse> outputs,
        MemoryUse absent,
        Optional<String> dependenceOfRows) {

    /** The ending of files in the engine's own format, which are not read. */
    private static final String OWN_FORMAT = ".ort";

    /** Reads a model's file. A graph that cannot be followed is no error: all of its tensors are copied. */
    public static ModelGraph read(Path file) {
        if (file.getFileName().toString().endsWith(OWN_FORMAT)) {
            return unread("graphs in ONNX Runtime's own format are not read");
        }
        try {
            Dataflow flow = Unfolding.of(GraphReader.read(file));
            MemoryUses.Uses uses = MemoryUses.of(flow);
            return new ModelGraph(
                    uses.inputs(),
                    uses.outputs(),
                    MemoryUse.copied("the graph does not have it"),
                    RowDependence.find(flow));
        } catch (UnreadableGraphException e) {
            return unread(String.valueOf(e.getMessage()));
        } catch (IOException | UncheckedIOException e) {
            return unread("the graph's file cannot be read: " + IoFailure.describe(e));
        }
    }

    /** That of a model whose graph is not known; all is copied. */
    public static ModelGraph unread(String reason) {
        return new ModelGraph(Map.of(), Map.of(), MemoryUse.copied(reason), Optional.empty());
    }

    /** How runs use the memory of an input. */
    public MemoryUse input(String name) {
        return inputs.getOrDefault(name, absent);
    }

    /** How runs use the memory of an output. */
    public MemoryUse output(String name) {
        return outputs.getOrDefault(name, absent);
    }
}
