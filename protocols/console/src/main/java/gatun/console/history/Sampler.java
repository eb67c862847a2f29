// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.logging.RequestWatch;
import gatun.runtime.server.InferenceServer;
import gatun.wire.inference.ModelInstanceGroup;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Looks at the counters of all versions once a second, whether anybody watches or not, and keeps what they did. It has
 * no thread: whoever owns it calls {@link #sample} each second. Safe for any thread.
 */
public final class Sampler {
    /** How many versions have their latencies measured at a time: those that had requests last. */
    static final int MOST_MEASURED = 512;

    /** How many versions that are gone are remembered, until an hour has passed. */
    static final int MOST_GONE = 256;

    /** The most heap for histories, which small heaps do not give. */
    private static final long HISTORY_BYTES = 24L << 20;

    /** A part of the heap that histories may take. */
    private static final int HISTORY_PART = 16;

    private final CounterSource source;
    private final LongSupplier millis;
    private final RequestRecorder recorder = new RequestRecorder();
    private final Consumer<RequestWatch> requests;
    private final AtomicBoolean watchesRequests = new AtomicBoolean();
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private final HistoryBudget budget;
    private final Map<VersionKey, TrackedVersion> versions = new HashMap<>();
    private int measured;
    private long lastSecond;
    private long lastMillis;

    /** Looks at the counters of {@code server}. */
    public Sampler(InferenceServer server) {
        this(
                CounterSource.of(server),
                System::currentTimeMillis,
                server::watchRequests,
                Math.min(HISTORY_BYTES, Runtime.getRuntime().maxMemory() / HISTORY_PART));
    }

    /**
     * Looks at the counters of {@code source}, at the times that {@code millis} tells.
     *
     * @param requests has a watch told of each request
     */
    Sampler(CounterSource source, LongSupplier millis, Consumer<RequestWatch> requests, long historyBytes) {
        this.source = source;
        this.millis = millis;
        this.requests = requests;
        this.budget = HistoryBudget.ofBytes(historyBytes);
    }

    /**
     * Keeps the slowest requests and the last failures from now on. Somebody looks: what each request then costs is not
     * spent where nobody ever does.
     */
    public void watchRequests() {
        if (!watchesRequests.get() && watchesRequests.compareAndSet(false, true)) {
            requests.accept(recorder);
        }
    }

    /** Takes in what happened since the last call. */
    public void sample() {
        long now = millis.getAsLong();
        List<ModelStatistics> statistics = source.statistics();
        lock.lock();
        try {
            // Of a clock that was set back, the seconds are counted on.
            long second = Math.max(lastSecond + 1, TimeUnit.MILLISECONDS.toSeconds(now));
            double seconds = lastSecond == 0 ? 1 : Math.max(0.1, (now - lastMillis) / 1000.0);
            sample(second, seconds, statistics);
            lastSecond = second;
            lastMillis = now;
        } finally {
            lock.unlock();
        }
    }

    private void sample(long second, double seconds, List<ModelStatistics> statistics) {
        Set<VersionKey> present = new HashSet<>();
        Set<VersionKey> busy = new HashSet<>();
        for (ModelStatistics now : statistics) {
            VersionKey key = new VersionKey(now.model(), now.version());
            present.add(key);
            TrackedVersion version = versions.get(key);
            if (version == null) {
                version = new TrackedVersion(new VersionHistory(second, budget));
                versions.put(key, version);
                recorder.add(key);
            }
            version.goneAt(0);
            if (version.hasAnswered(now) && (version.isMeasured() || mayMeasureOneMore(second))) {
                busy.add(key);
            }
        }
        Map<VersionKey, ModelLatencies> latencies = new HashMap<>();
        if (!busy.isEmpty()) {
            source.latencies((model, version) -> busy.contains(new VersionKey(model, version)))
                    .forEach(found -> latencies.put(new VersionKey(found.model(), found.version()), found));
        }
        for (ModelStatistics now : statistics) {
            VersionKey key = new VersionKey(now.model(), now.version());
            TrackedVersion version = versions.get(key);
            if (version != null) {
                version.take(second, seconds, now, () -> source.instances(key), latencies.get(key));
            }
        }
        measured = (int)
                versions.values().stream().filter(TrackedVersion::isMeasured).count();
        forgetGone(second, present);
    }

    /** Whether there is room to measure one more, if need be in the place of one that is idle. */
    private boolean mayMeasureOneMore(long second) {
        if (measured < MOST_MEASURED) {
            measured++;
            return true;
        }
        Optional<TrackedVersion> idle = versions.values().stream()
                .filter(TrackedVersion::isMeasured)
                .min(Comparator.comparingLong(TrackedVersion::lastBusy))
                .filter(version -> version.lastBusy() < second - Minute.SECONDS);
        idle.ifPresent(TrackedVersion::measureNoMore);
        return idle.isPresent();
    }

    private void forgetGone(long second, Set<VersionKey> present) {
        int gone = 0;
        for (Map.Entry<VersionKey, TrackedVersion> entry : versions.entrySet()) {
            TrackedVersion version = entry.getValue();
            if (!present.contains(entry.getKey())) {
                gone++;
                if (version.goneAt() == 0) {
                    version.goneAt(second);
                    version.measureNoMore();
                }
            }
        }
        if (gone == 0) {
            return;
        }
        int surplus = gone - MOST_GONE;
        long expired = second - VersionHistory.POINTS;
        List<Map.Entry<VersionKey, TrackedVersion>> oldest = versions.entrySet().stream()
                .filter(entry -> entry.getValue().goneAt() != 0)
                .sorted(Comparator.comparingLong(entry -> entry.getValue().goneAt()))
                .toList();
        for (int i = 0; i < oldest.size(); i++) {
            TrackedVersion version = oldest.get(i).getValue();
            if (i < surplus || version.goneAt() <= expired) {
                budget.remove(version.history());
                versions.remove(oldest.get(i).getKey());
                recorder.remove(oldest.get(i).getKey());
            }
        }
    }

    /** How many instances there are of these groups. */
    public static int instances(List<ModelInstanceGroup> groups) {
        return CounterSource.instancesOf(groups);
    }

    /** What each version that is there did lately; of models of one name, one is told of, without its namespace. */
    public Map<VersionKey, VersionRates> rates() {
        lock.lock();
        try {
            Map<VersionKey, VersionRates> rates = new HashMap<>();
            versions.forEach((key, version) -> {
                if (version.goneAt() == 0) {
                    VersionKey named =
                            new VersionKey(ModelIdentifier.of(key.model().name()), key.version());
                    rates.put(named, version.lastBusy() == 0 ? VersionRates.IDLE : version.rates());
                }
            });
            return rates;
        } finally {
            lock.unlock();
        }
    }

    /** The last {@code points} seconds of a version, an hour at most; empty when it is not known, or no more. */
    public Optional<History> history(String model, String version, int points) {
        lock.lock();
        try {
            TrackedVersion found = find(model, version);
            return found == null
                    ? Optional.empty()
                    : Optional.of(
                            found.history().until(lastSecond, lastMillis, Math.min(points, VersionHistory.POINTS)));
        } finally {
            lock.unlock();
        }
    }

    private @Nullable TrackedVersion find(String model, String version) {
        for (Map.Entry<VersionKey, TrackedVersion> entry : versions.entrySet()) {
            if (entry.getKey().version().equals(version)
                    && entry.getKey().model().name().equals(model)) {
                return entry.getValue();
            }
        }
        return null;
    }

    /** The slowest requests to a version in the last hour, the slowest first; empty when it is not known. */
    public Optional<List<SlowRequest>> slowest(String model, String version) {
        RequestRecords records = recorder.find(model, version);
        return records == null ? Optional.empty() : Optional.of(records.slowest(millis.getAsLong()));
    }

    /** The last requests that a version failed, the latest first. */
    public List<FailedRequest> failures(String model, String version) {
        RequestRecords records = recorder.find(model, version);
        return records == null ? List.of() : records.failures();
    }

    /** How many versions are known, those that are gone included. */
    int versionCount() {
        lock.lock();
        try {
            return versions.size();
        } finally {
            lock.unlock();
        }
    }

    /** How many minutes of histories are kept. */
    int minuteCount() {
        lock.lock();
        try {
            return budget.taken();
        } finally {
            lock.unlock();
        }
    }
}
