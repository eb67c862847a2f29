// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.TensorSpec;
import gatun.spi.EntryPoint;
import gatun.spi.MemoryUse;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;
import gatun.wire.tensorflow.SignatureDef;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;

/**
 * A version of a model that was found ready. Any thread may use it; it stays valid after the version is unloaded, when
 * requests to it are refused.
 */
public interface ModelVersion {
    /** The model's name. */
    default String name() {
        return config().getName();
    }

    /** The version's number. */
    long version();

    /** The version in decimal, as responses carry it. */
    String versionText();

    /** The platform as metadata tells it: the configuration's platform, or its backend when that is empty. */
    default String platform() {
        ModelConfig config = config();
        return config.getPlatform().isEmpty() ? config.getBackend() : config.getPlatform();
    }

    /** The inputs as requests must shape them, the batch dimension included, in the configuration's order. */
    List<TensorSpec> inputs();

    /** The outputs as responses shape them, the batch dimension included, in the configuration's order. */
    List<TensorSpec> outputs();

    /**
     * The entry points, by name. The first is the one that the configuration describes; it serves requests that name
     * none. Most models have no other.
     */
    default SequencedMap<String, EntryPoint> entryPoints() {
        SequencedMap<String, EntryPoint> only = new TreeMap<>();
        only.put(EntryPoint.DEFAULT, EntryPoint.only(inputs(), outputs()));
        return Collections.unmodifiableSequencedMap(only);
    }

    /** The signatures as {@link gatun.spi.BackendModel#signatures} gives them. */
    default Map<String, SignatureDef> signatures() {
        return Map.of();
    }

    /** The labels of an output's classes, by index; empty when they have none or there is no such output. */
    default List<String> labels(String output) {
        return List.of();
    }

    /**
     * Settings that the engine has chosen where the configuration leaves them open, and why: one line of text each, for
     * people to read.
     */
    default List<String> choices() {
        return List.of();
    }

    /** What its runs have taught, as far as they may. */
    default List<LearnedChoice> learned() {
        return List.of();
    }

    /** Where its runs were since it was loaded; none of a model without instances. */
    default RunCounts runCounts() {
        return RunCounts.NONE;
    }

    /** Where runs touch an input of that name that lies in a client's memory, and why. */
    default MemoryUse inputMemory(String input) {
        return MemoryUse.copied("nothing is known of the model");
    }

    /** Where runs touch an output of that name that belongs in a client's memory, and why. */
    default MemoryUse outputMemory(String output) {
        return MemoryUse.copied("nothing is known of the model");
    }

    /**
     * Why requests share no runs though the model's tensors leave room for it and nobody has forbidden it, for people to
     * read; empty for other models. Among {@link #choices}, too.
     */
    default Optional<String> unbatched() {
        return Optional.empty();
    }

    /** The configuration as completed and normalised. */
    ModelConfig config();

    /** How many instances the configuration asks for. */
    default int instanceCount() {
        int count = 0;
        for (ModelInstanceGroup group : config().getInstanceGroupList()) {
            count += group.getCount() * Math.max(1, group.getGpusCount());
        }
        return count;
    }

    /**
     * The memory that the version is reckoned to take now, in bytes: that of its files, by which the limit of models'
     * memory goes too. What an engine takes can not be measured beside that of others. 0 while it is not in memory, for
     * one without files of its own, such as an ensemble, and where its files cannot be looked at.
     */
    default long memoryByteSize() {
        return 0;
    }

    /** Whether the version can answer now. */
    boolean ready();

    /** All ready versions of the same model, ascending, as metadata lists them. */
    List<String> readyVersions();

    /** Whether one request may have any number of responses. */
    default boolean decoupled() {
        return config().getModelTransactionPolicy().getDecoupled();
    }
}
