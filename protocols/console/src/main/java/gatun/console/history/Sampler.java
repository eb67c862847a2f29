// SPDX-License-Identifier: Apache-2.0
package gatun.console.history;

import gatun.console.history.VersionHistory.Minute;
import gatun.console.history.VersionRates.VersionKey;
import gatun.runtime.ComputeTimes;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.VersionCounters;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.AccessLog.RecordedLog.RequestWatch;
import gatun.runtime.server.InferenceServer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/** Reads all versions' counters each second, by its owner's calls of {@link #sample}. Thread-safe. */
public final class Sampler {
    /** How many versions have their latencies measured at a time: those that had requests last. */
    static final int MOST_MEASURED = 512;

    /** How many versions that are gone are remembered, until an hour has passed. */
    static final int MOST_GONE = 256;

    /** The most heap for histories, which small heaps do not give. */
    private static final long HISTORY_BYTES = 24L << 20;

    /** A part of the heap that histories may take. */
    private static final int HISTORY_PART = 16;

    /** Shows every ready version; {@link InferenceServer#forEachReady}. */
    private final Consumer<VersionCounters.Look> ready;

    private final LongSupplier millis;
    private final RequestRecorder recorder = new RequestRecorder();
    private final Consumer<RequestWatch> requests;
    private final AtomicBoolean watchesRequests = new AtomicBoolean();
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private final HistoryBudget budget;
    private final ServerHistory server = new ServerHistory();
    private final Map<VersionKey, TrackedVersion> versions = new HashMap<>();

    /** The versions that are there by what they count with, which says without a key who is looked at. */
    private final IdentityHashMap<VersionCounters, TrackedVersion> present = new IdentityHashMap<>();

    /** The versions that are gone, the first to go first. */
    private final Map<VersionKey, TrackedVersion> gone = new LinkedHashMap<>();

    private final VersionCounters.Look look = this::look;
    private int measured;
    private long lastSecond;
    private long lastMillis;

    // Of the look that goes on.
    private long second;
    private double seconds;
    private int seen;
    private boolean noneToReplace;

    /** Looks at the counters of {@code server}. */
    public Sampler(InferenceServer server) {
        this(
                server::forEachReady,
                System::currentTimeMillis,
                server::watchRequests,
                Math.min(HISTORY_BYTES, Runtime.getRuntime().maxMemory() / HISTORY_PART));
    }

    /** Looks at the counters of the versions that {@code ready} shows, at the times that {@code millis} tells. */
    Sampler(
            Consumer<VersionCounters.Look> ready,
            LongSupplier millis,
            Consumer<RequestWatch> requests,
            long historyBytes) {
        this.ready = ready;
        this.millis = millis;
        this.requests = requests;
        this.budget = HistoryBudget.ofBytes(historyBytes);
    }

    /** Keeps the slowest requests and last failures from now on, since somebody looks at them. */
    public void watchRequests() {
        if (!watchesRequests.get() && watchesRequests.compareAndSet(false, true)) {
            requests.accept(recorder);
        }
    }

    /** Takes in what happened since the last call. A version that did nothing costs a few reads. */
    public void sample() {
        long now = millis.getAsLong();
        lock.lock();
        try {
            // Of a clock that was set back, the seconds are counted on.
            second = Math.max(lastSecond + 1, TimeUnit.MILLISECONDS.toSeconds(now));
            seconds = lastSecond == 0 ? 1 : Math.max(0.1, (now - lastMillis) / 1000.0);
            seen = 0;
            noneToReplace = false;
            ready.accept(look);
            server.end(second, seconds);
            if (seen < present.size()) {
                noteGone();
            }
            forgetGone();
            lastSecond = second;
            lastMillis = now;
        } finally {
            lock.unlock();
        }
    }

    private void look(ModelIdentifier model, String version, VersionCounters counters) {
        seen++;
        TrackedVersion tracked = present.get(counters);
        if (tracked == null) {
            tracked = appear(new VersionKey(model, version), counters);
        }
        tracked.seenAt(second);
        if (!tracked.hasMoved(counters)) {
            return;
        }
        ModelStatistics now = counters.statistics();
        boolean wasMeasured = tracked.isMeasured();
        ModelLatencies latencies = tracked.hasAnswered(now) && (wasMeasured || mayMeasureOneMore())
                ? counters.latencies().orElse(null)
                : null;
        tracked.take(second, seconds, now, latencies);
        if (!wasMeasured && tracked.isMeasured()) {
            measured++;
        }
        tracked.addTo(server, second);
    }

    private TrackedVersion appear(VersionKey key, VersionCounters counters) {
        TrackedVersion tracked = versions.get(key);
        if (tracked == null) {
            tracked = new TrackedVersion(key, new VersionHistory(second, budget));
            versions.put(key, tracked);
            recorder.add(key);
        }
        gone.remove(key);
        tracked.countWith(counters);
        present.put(counters, tracked);
        return tracked;
    }

    /** Whether there is room to measure one more, if need be in the place of one that is idle. */
    private boolean mayMeasureOneMore() {
        if (measured < MOST_MEASURED) {
            return true;
        }
        if (noneToReplace) {
            return false; // as was found in this second
        }
        Optional<TrackedVersion> idle = present.values().stream()
                .filter(TrackedVersion::isMeasured)
                .min(Comparator.comparingLong(TrackedVersion::lastBusy))
                .filter(version -> version.lastBusy() < second - Minute.SECONDS);
        idle.ifPresent(this::measureNoMore);
        noneToReplace = idle.isEmpty();
        return idle.isPresent();
    }

    private void measureNoMore(TrackedVersion version) {
        if (version.isMeasured()) {
            version.measureNoMore();
            measured--;
        }
    }

    private void noteGone() {
        present.entrySet().removeIf(entry -> {
            TrackedVersion version = entry.getValue();
            boolean counts = version.countsWith(entry.getKey());
            if (counts && version.seenAt() == second) {
                return false;
            }
            if (counts) { // and was not loaded anew
                gone.put(version.key(), version);
                version.leave(second);
                measureNoMore(version);
            }
            return true;
        });
    }

    private void forgetGone() {
        Iterator<TrackedVersion> oldest = gone.values().iterator();
        while (oldest.hasNext()) {
            TrackedVersion version = oldest.next();
            if (gone.size() <= MOST_GONE && version.goneAt() > second - VersionHistory.POINTS) {
                return;
            }
            oldest.remove();
            versions.remove(version.key());
            budget.remove(version.history());
            recorder.remove(version.key());
        }
    }

    /** What each version that is there did lately; of models of one name, one is told of, without its namespace. */
    public Map<VersionKey, VersionRates> rates() {
        lock.lock();
        try {
            Map<VersionKey, VersionRates> rates = new HashMap<>();
            for (TrackedVersion version : present.values()) {
                VersionKey key = version.key();
                rates.put(
                        new VersionKey(ModelIdentifier.of(key.model().name()), key.version()),
                        version.rates(lastSecond));
            }
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

    /** What the server did in {@code range}, and those of its versions that are there and did the most. */
    public Trends trends(TimeRange range) {
        long second;
        long endMillis;
        History whole;
        List<TrackedVersion> busiest;
        lock.lock();
        try {
            second = lastSecond;
            endMillis = lastMillis;
            whole = server.until(range, second, endMillis);
            busiest = busiest(second - range.seconds() + 1);
        } finally {
            lock.unlock();
        }
        List<Trends.VersionTrend> versions = new ArrayList<>(busiest.size());
        for (TrackedVersion version : busiest) {
            lock.lock(); // for each anew: the sampler does not wait for all
            try {
                History trend = version.history().trend(range, second, endMillis);
                versions.add(new Trends.VersionTrend(
                        version.key().model().name(), version.key().version(), trend));
            } finally {
                lock.unlock();
            }
        }
        return new Trends(range, whole, versions);
    }

    private List<TrackedVersion> busiest(long since) {
        record Ranked(TrackedVersion version, long requests) {}
        return present.values().stream()
                .map(version -> new Ranked(version, version.history().requestsSince(since)))
                .filter(ranked -> ranked.requests() > 0)
                .sorted(Comparator.comparingLong(Ranked::requests).reversed())
                .limit(Trends.MOST_VERSIONS)
                .map(Ranked::version)
                .toList();
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

    int minuteCount() {
        lock.lock();
        try {
            return budget.taken();
        } finally {
            lock.unlock();
        }
    }

    /** Keeps slow and failed requests of versions that it was told of, by name only. Thread-safe. */
    static final class RequestRecorder implements RequestWatch {
        private final Map<String, Map<String, RequestRecords>> records = new ConcurrentHashMap<>();

        @Override
        public void ended(AccessEntry entry) {
            ComputeTimes times = entry.times();
            if (times != null) {
                RequestRecords found = find(entry.model(), entry.version());
                if (found != null) {
                    found.ended(entry, times);
                }
            }
        }

        /** Records the requests to a version from now on. */
        void add(VersionKey version) {
            records.computeIfAbsent(version.model().name(), any -> new ConcurrentHashMap<>())
                    .computeIfAbsent(version.version(), any -> new RequestRecords());
        }

        void remove(VersionKey version) {
            records.computeIfPresent(version.model().name(), (name, versions) -> {
                versions.remove(version.version());
                return versions.isEmpty() ? null : versions;
            });
        }

        /** The records of a version; null where there are none. */
        @Nullable
        RequestRecords find(String model, String version) {
            Map<String, RequestRecords> versions = records.get(model);
            return versions == null ? null : versions.get(version);
        }
    }
}
