// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.wire.tensorflow.SignatureDef;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A loaded model version. Safe for any thread; closed after its last instance. */
public interface BackendModel extends AutoCloseable {
    /**
     * Makes an instance. Called on the very thread that will use it, so that the instance may keep memory which only
     * that thread may touch. The thread is interrupted when nobody wants the instance any more: where this waits, it is to
     * fail then.
     *
     * @throws gatun.memory.tensor.GatunException when the engine refuses, also for a device that it does not run on
     */
    BackendInstance newInstance(InstanceSpec spec);

    /**
     * The entry points that the model's files name. The first is the one that the configuration describes, with the
     * names that the files give; more may follow, each with inputs and outputs of its own. Empty for a model whose
     * files name none. Models with sequences or ragged batches are called by the first only.
     */
    default List<EntryPoint> entryPoints() {
        return List.of();
    }

    /** The signatures in the model's files, by name, callable or not; empty for formats without them. */
    default Map<String, SignatureDef> signatures() {
        return Map.of();
    }

    /**
     * Whether the requests of a batch come apart, each with its own tensors, to
     * {@link BackendInstance#executeApart}, instead of one tensor for all of them: for models that look at single
     * requests, and whose ragged inputs nothing else would tell where they begin. Steps of sequences, and batches with
     * {@code batch_input} or a {@code batch_output} that is cut, come as one tensor nevertheless.
     */
    default boolean takesRequestsApart() {
        return false;
    }

    /** Why the model cannot answer at the moment, though its instances are open; empty while it can. */
    default Optional<String> failure() {
        return Optional.empty();
    }

    /** Settings that the engine chose, and why, a line each, for people. Asked when instances are open. */
    default List<String> choices() {
        return List.of();
    }

    /** How runs use an input's memory; copied by default. Asked when the model is loaded. */
    default MemoryUse inputMemory(String input) {
        return MemoryUse.copied("the engine does not tell how it reads its inputs");
    }

    /** How runs use an output's memory, as {@link #inputMemory}. In place only if the model never reads it. */
    default MemoryUse outputMemory(String output) {
        return MemoryUse.copied("the engine does not tell whether it reads its outputs again");
    }

    /** Why rows may depend on each other, by the model's files; empty if unknown. Asked at load. */
    default Optional<String> dependenceOfRows() {
        return Optional.empty();
    }

    /** Gives up what the model took from the engine, if anything. */
    @Override
    default void close() {}
}
