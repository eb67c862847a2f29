// SPDX-License-Identifier: Apache-2.0
package gatun.spring;

import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.wire.inference.ModelStatistics;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.MeterBinder;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * Meters of each model that the server has, by the tags {@code model} and {@code version}: see {@link VersionMeters}. The
 * statistics are read at set times, whatever reads the meters, so that their values are that old at most, and a server
 * elsewhere is asked no more often. Models that come get meters, those that go lose theirs. Safe for any thread.
 */
public final class ModelMeters implements MeterBinder, AutoCloseable {
    private record Version(String model, String version) {}

    private final GatunClient client;
    private final long intervalMillis;
    private final ScheduledExecutorService reader = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("gatun-metrics").factory());

    /** Used by the reader's thread alone. */
    private final Map<MeterRegistry, Map<Version, VersionMeters>> bound = new HashMap<>();

    /**
     * Reads nothing yet.
     *
     * @param client stays its owner's
     * @param interval how long to wait between two readings
     * @throws IllegalArgumentException when that is less than a millisecond
     */
    public ModelMeters(GatunClient client, Duration interval) {
        if (interval.toMillis() < 1) {
            throw new IllegalArgumentException(
                    "gatun.metrics-interval=" + interval + ": expected a time of at least a millisecond");
        }
        this.client = client;
        intervalMillis = interval.toMillis();
    }

    @Override
    public void bindTo(MeterRegistry registry) {
        reader.execute(() -> bound.put(registry, new HashMap<>()));
        ScheduledFuture<?> ignored =
                reader.scheduleWithFixedDelay(() -> read(registry), 0, intervalMillis, TimeUnit.MILLISECONDS);
    }

    /** Reads no more; the meters keep their last values. */
    @Override
    public void close() {
        reader.shutdownNow();
    }

    private void read(MeterRegistry registry) {
        List<ModelStatistics> statistics;
        try {
            statistics = client.models().statistics("", "");
        } catch (ClientException | IllegalStateException e) {
            // The server is away, or its client was closed: the health says so, and the meters keep what they have.
            return;
        }
        Map<Version, VersionMeters> known = bound.getOrDefault(registry, Map.of());
        Set<Version> gone = new HashSet<>(known.keySet());
        for (ModelStatistics model : statistics) {
            Version version = new Version(model.getName(), model.getVersion());
            gone.remove(version);
            known.computeIfAbsent(version, absent -> new VersionMeters(registry, absent.model, absent.version))
                    .take(model);
        }
        for (Version version : gone) {
            VersionMeters meters = known.remove(version);
            if (meters != null) {
                meters.remove();
            }
        }
    }
}
