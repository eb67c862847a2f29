// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.TensorSpec;
import gatun.spi.EntryPoint;
import gatun.wire.inference.ModelConfig;
import java.util.Collections;
import java.util.List;
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

    /** What metadata calls the platform: the configuration's platform, or its backend when that is empty. */
    default String platform() {
        ModelConfig config = config();
        return config.getPlatform().isEmpty() ? config.getBackend() : config.getPlatform();
    }

    /** The inputs as requests must shape them, the batch dimension included, in the configuration's order. */
    List<TensorSpec> inputs();

    /** The outputs as responses shape them, the batch dimension included, in the configuration's order. */
    List<TensorSpec> outputs();

    /**
     * The ways to ask the model, by name. The first is the one that the configuration describes and that requests mean
     * which name none; most models have no other.
     */
    default SequencedMap<String, EntryPoint> entryPoints() {
        SequencedMap<String, EntryPoint> only = new TreeMap<>();
        only.put(EntryPoint.DEFAULT, EntryPoint.only(inputs(), outputs()));
        return Collections.unmodifiableSequencedMap(only);
    }

    /**
     * What the classes of an output are called, by index; empty when it has no names for them or there is no such
     * output.
     */
    default List<String> labels(String output) {
        return List.of();
    }

    /** What the engine has chosen that the configuration leaves open, and why, a line each for people to read. */
    default List<String> choices() {
        return List.of();
    }

    /** The configuration as completed and normalised. */
    ModelConfig config();

    /** Whether the version can answer now. */
    boolean ready();

    /** All ready versions of the same model, ascending, as metadata lists them. */
    List<String> readyVersions();

    /** Whether one request may have any number of responses. */
    default boolean decoupled() {
        return config().getModelTransactionPolicy().getDecoupled();
    }
}
