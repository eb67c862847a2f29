// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.metrics.MetricSink.MetricSource;
import gatun.memory.tensor.GatunException;
import gatun.runtime.EngineStatistics;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelMemoryUse;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ServerMetadata;
import gatun.runtime.Subscription;
import gatun.runtime.VersionCounters;
import gatun.runtime.repository.VersionText;
import java.util.List;
import java.util.Optional;

/** The state of the server and of its models, and what they have counted. Thread-safe. */
public interface ServerObservation {
    /** The server's metadata. */
    ServerMetadata metadata();

    /** Whether the process can answer at all. Throws UNAVAILABLE when the server stops. */
    boolean live();

    /** Whether every model version that should be served is. Throws UNAVAILABLE when the server stops. */
    boolean ready();

    /** Whether the server was told to stop: it answers accepted requests, and refuses new ones. */
    boolean exiting();

    /**
     * Calls {@code listener} each time after a version of a model has changed its state, or the server has begun to
     * stop: after that {@link #ready} may answer otherwise. It is called by the thread that made the change and must
     * return at once.
     */
    Subscription onChange(Runnable listener);

    /** The counters of every ready version, by name and version. */
    List<ModelStatistics> statistics();

    /**
     * The counters of the ready versions of one model, or of one version.
     *
     * @param name the model's name; empty for all models
     * @param version the version, which begins with a decimal number; empty for all
     * @throws GatunException INVALID_ARGUMENT when that is no number, or the named one is not ready, with the
     *     protocol's text
     */
    default List<ModelStatistics> statistics(String name, String version) {
        String number = version.isEmpty() ? version : Long.toString(VersionText.parse(version));
        List<ModelStatistics> named = statistics().stream()
                .filter(model -> name.isEmpty() || model.name().equals(name))
                .toList();
        List<ModelStatistics> wanted = named.stream()
                .filter(model -> number.isEmpty() || model.version().equals(number))
                .toList();
        if (wanted.isEmpty() && !name.isEmpty()) {
            throw GatunException.invalidArgument(
                    named.isEmpty()
                            ? "requested model '" + name + "' is not available"
                            : "requested model version is not available for model '" + name + "'");
        }
        return wanted;
    }

    /** Latencies of every ready version by name and version; reading them never makes a request wait. */
    default List<ModelLatencies> latencies() {
        return List.of();
    }

    /** Shows {@code look} each ready version and its counters, which change with a reload only. Allocates nothing. */
    default void forEachReady(VersionCounters.Look look) {}

    /** The statistics of each engine that a model needed, by name. */
    List<EngineStatistics> engines();

    /** The metrics that models and backends have made themselves, by name. */
    default MetricSource modelMetrics() {
        return sink -> {};
    }

    /** How much memory models take; empty unless it has a limit, and models are loaded by the requests that need them. */
    default Optional<ModelMemoryUse> modelMemory() {
        return Optional.empty();
    }
}
