// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.TensorSpec;
import gatun.spi.EntryPoint;
import gatun.spi.MemoryUse;
import gatun.spi.Tuning.Subject;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInstanceGroup;
import gatun.wire.tensorflow.SignatureDef;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;

/** A version of a model that was found ready. Thread-safe; once it is unloaded, requests are refused. */
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

    /** The entry points, by name. Requests that name none get the first, which the configuration describes. */
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

    /** Settings that the engine chose where the configuration leaves them open, with reasons; a line each. */
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

    /** Why requests do not share runs though nothing forbids it; empty for other models. Part of {@link #choices}. */
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

    /** A model's runs since it was loaded, on the threads that brought their requests and on instances' threads. */
    public record RunCounts(long onRequestThreads, long onInstanceThreads) {
        /** None yet. */
        public static final RunCounts NONE = new RunCounts(0, 0);

        /** All of them. */
        public long total() {
            return onRequestThreads + onInstanceThreads;
        }

        /** The share of each in a line for people, such as {@code threads: 98 % of runs on the threads of their requests}. */
        public String text() {
            return "threads: " + 100 * onRequestThreads / Math.max(1, total())
                    + " % of runs on the threads of their requests";
        }
    }

    /**
     * What a version learned last about one subject: the number of the chosen way among {@code ways}. {@code gain} is
     * the cost of the usual way divided by that of the best other: more than 1 where another is better.
     */
    public record LearnedChoice(Subject subject, List<String> ways, int way, double gain) {
        /** Keeps a copy of the ways. */
        public LearnedChoice {
            ways = List.copyOf(ways);
        }

        /** The choice in a line for people, such as {@code batches: kept for callers who come back, 1.30 x}. */
        public String text() {
            return String.format(
                    Locale.ROOT,
                    "%s: %s (another way than usual is %.2f x as fast)",
                    subject.word(),
                    ways.get(way),
                    gain);
        }
    }
}
