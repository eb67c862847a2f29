// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.residency;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelLatencies;
import gatun.runtime.ModelStatistics;
import gatun.runtime.ResponseReceiver;
import gatun.runtime.execution.LoadedModel;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.VersionRetiredException;
import gatun.runtime.statistics.ModelCounters;
import gatun.spi.EntryPoint;
import gatun.wire.inference.ModelConfig;
import gatun.wire.tensorflow.SignatureDef;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A model version that is in memory only while it is needed: loaded by the first request for it, and closed when
 * {@link ModelMemory} has to make room and nobody uses it. What it counts goes on over that. One whose requests are
 * steps of sequences stays once it is loaded, since states would be lost. Safe for any thread.
 */
public final class OnDemandModel implements ServedModel {
    private static final Logger LOG = LoggerFactory.getLogger(OnDemandModel.class);

    /** {@link #users} of a model that is not in memory, or is being closed. */
    private static final long ABSENT = -1;

    private final ModelMemory memory;
    private final ModelConfig config;
    private final long version;
    private final String versionText;
    private final long byteSize;
    private final Function<ModelCounters, LoadedModel> opening;
    private final Supplier<List<String>> readyVersions;
    private final ModelCounters counters = new ModelCounters();
    private final boolean staying;

    /** How many requests are with {@link #latest}, or {@link #ABSENT}. */
    private final AtomicLong users = new AtomicLong(ABSENT);

    private volatile long lastUsedNanos = System.nanoTime();

    /** As it was loaded last; closed, and good for its descriptions only, while it is absent. */
    private volatile @Nullable LoadedModel latest;

    /** Why it cannot be loaded. */
    private volatile Optional<String> failure = Optional.empty();

    private volatile boolean closing; // written under the lock

    /** Whether {@link #close} has given its memory back. */
    private final AtomicBoolean released = new AtomicBoolean();

    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by the lock.
    private @Nullable CompletableFuture<Void> loading;
    private long waiting;

    /**
     * A version that is not in memory.
     *
     * @param config complete
     * @param byteSize the size of the version's files
     * @param opening loads it, and throws what keeps it from that; called again whenever it has to come back
     * @param readyVersions tells the ready versions of the same model, ascending
     * @throws GatunException RESOURCE_EXHAUSTED when it does not fit into {@code memory}
     */
    public OnDemandModel(
            ModelMemory memory,
            ModelConfig config,
            long version,
            long byteSize,
            Function<ModelCounters, LoadedModel> opening,
            Supplier<List<String>> readyVersions) {
        memory.requireFit(byteSize);
        this.memory = memory;
        this.config = config;
        this.version = version;
        this.byteSize = byteSize;
        this.opening = opening;
        this.readyVersions = readyVersions;
        versionText = Long.toString(version);
        staying = config.hasSequenceBatching();
    }

    /** How much memory it takes when it is loaded, in bytes. */
    long byteSize() {
        return byteSize;
    }

    /** When its last user left; a reading of {@link System#nanoTime}. */
    long lastUsedNanos() {
        return lastUsedNanos;
    }

    /**
     * Has it loaded now, if it is not.
     *
     * @throws GatunException with the reason why it cannot be
     */
    public void load() {
        enter();
        leave();
    }

    @Override
    public InferenceResponse infer(InferenceRequest request) {
        LoadedModel model = enter();
        try {
            return model.infer(request);
        } finally {
            leave();
        }
    }

    @Override
    public void infer(InferenceRequest request, ResponseReceiver receiver) {
        LoadedModel model = enter();
        try {
            model.infer(request, receiver);
        } finally {
            leave();
        }
    }

    /** The model in memory, which stays there until the caller {@linkplain #leave leaves}. */
    private LoadedModel enter() {
        long before = users.get();
        while (before != ABSENT) {
            if (users.compareAndSet(before, before + 1)) {
                return loaded();
            }
            before = users.get();
        }
        return awaitLoad();
    }

    private void leave() {
        lastUsedNanos = System.nanoTime();
        if (users.decrementAndGet() == 0) {
            memory.released();
        }
    }

    private LoadedModel loaded() {
        LoadedModel model = latest;
        if (model == null) {
            throw new AssertionError("it has users, and was never loaded");
        }
        return model;
    }

    /** As {@link #enter}, of a model that was absent. */
    private LoadedModel awaitLoad() {
        CompletableFuture<Void> awaited;
        lock.lock();
        try {
            if (closing) {
                throw new VersionRetiredException();
            }
            failure.ifPresent(reason -> {
                throw unavailable(reason);
            });
            if (users.get() != ABSENT) {
                users.incrementAndGet(); // It was loaded meanwhile, and leaves under this lock only.
                return loaded();
            }
            waiting++;
            if (loading == null) {
                loading = memory.start(this::open);
            }
            awaited = loading;
        } finally {
            lock.unlock();
        }
        try {
            awaited.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof GatunException told ? told : e;
        }
        return loaded();
    }

    private GatunException unavailable(String reason) {
        return new GatunException(
                ErrorCode.UNAVAILABLE,
                "model '" + name() + "' version " + versionText + " could not be loaded when it was asked: " + reason);
    }

    /** Loads it for those who wait, who have entered when this returns; otherwise none has. */
    private void open() {
        try {
            memory.take(this);
            LoadedModel opened = openInMemory();
            if (!admit(opened)) {
                opened.close(Duration.ZERO);
                memory.giveBack(this);
                throw new VersionRetiredException();
            }
            LOG.debug("Model '{}' version {} was loaded, since it was asked", name(), versionText);
        } catch (RuntimeException | Error e) {
            lock.lock();
            try {
                loading = null;
                waiting = 0;
            } finally {
                lock.unlock();
            }
            throw e;
        }
    }

    private LoadedModel openInMemory() {
        try {
            long startedNanos = System.nanoTime();
            LoadedModel opened = opening.apply(counters);
            opened.loadTime(Duration.ofNanos(System.nanoTime() - startedNanos));
            return opened;
        } catch (RuntimeException | Error e) {
            memory.giveBack(this);
            throw refuse(e);
        }
    }

    private boolean admit(LoadedModel opened) {
        lock.lock();
        try {
            if (closing) {
                return false;
            }
            latest = opened;
            users.set(waiting);
            waiting = 0;
            loading = null;
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Notes why it cannot be loaded: nobody is to try that again before somebody has mended it and loads it anew. */
    private GatunException refuse(Throwable cause) {
        String reason = cause instanceof GatunException told
                ? String.valueOf(told.getMessage())
                : "loading failed unexpectedly: " + cause;
        failure = Optional.of(reason);
        LOG.warn("Model '{}' version {} cannot be loaded: {}", name(), versionText, reason);
        memory.failed();
        return unavailable(reason);
    }

    /** Makes it absent if nobody uses it. What was in memory is then to be closed, and its memory given back. */
    Optional<LoadedModel> retire() {
        if (staying || users.get() != 0) {
            return Optional.empty();
        }
        lock.lock();
        try {
            return !closing && users.compareAndSet(0, ABSENT) ? Optional.of(loaded()) : Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void drain() {
        lock.lock();
        try {
            closing = true;
        } finally {
            lock.unlock();
        }
        LoadedModel model = latest;
        if (model != null) {
            model.drain();
        }
    }

    @Override
    public boolean close(Duration grace) {
        long deadline = System.nanoTime() + grace.toNanos();
        drain();
        CompletableFuture<Void> awaited;
        lock.lock();
        try {
            awaited = loading;
        } finally {
            lock.unlock();
        }
        if (awaited != null && !ends(awaited, grace)) {
            return false;
        }
        LoadedModel model = latest;
        if (model == null) {
            return true;
        }
        if (!model.close(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())))) {
            return false;
        }
        if (users.get() != ABSENT && released.compareAndSet(false, true)) {
            memory.giveBack(this);
        }
        return true;
    }

    private static boolean ends(CompletableFuture<Void> load, Duration grace) {
        try {
            load.get(grace.toNanos(), TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException e) {
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** The version as it was loaded last, for what it tells about itself; loaded now if it never was. */
    private LoadedModel described() {
        LoadedModel known = latest;
        if (known != null) {
            return known;
        }
        LoadedModel model = enter();
        leave();
        return model;
    }

    @Override
    public ModelStatistics statistics() {
        LoadedModel known = latest;
        return known == null ? counters.snapshot(name(), versionText, 0, 0) : known.statistics();
    }

    @Override
    public Optional<ModelLatencies> latencies() {
        LoadedModel known = latest;
        return known == null ? Optional.empty() : known.latencies();
    }

    @Override
    public void loadTime(Duration time) {
        // How long it took to find out that it can be loaded; each load notes its own.
    }

    @Override
    public Optional<byte[]> fingerprint() {
        return described().fingerprint();
    }

    @Override
    public long version() {
        return version;
    }

    @Override
    public String versionText() {
        return versionText;
    }

    @Override
    public List<TensorSpec> inputs() {
        return described().inputs();
    }

    @Override
    public List<TensorSpec> outputs() {
        return described().outputs();
    }

    @Override
    public SequencedMap<String, EntryPoint> entryPoints() {
        return described().entryPoints();
    }

    @Override
    public Map<String, SignatureDef> signatures() {
        return described().signatures();
    }

    @Override
    public List<String> labels(String output) {
        return described().labels(output);
    }

    @Override
    public List<String> choices() {
        LoadedModel known = latest;
        return known == null ? List.of() : known.choices();
    }

    @Override
    public ModelConfig config() {
        return config;
    }

    @Override
    public boolean ready() {
        return !closing && unavailability().isEmpty();
    }

    @Override
    public Optional<String> unavailability() {
        LoadedModel known = latest;
        return failure.isPresent() || known == null ? failure : known.unavailability();
    }

    @Override
    public List<String> readyVersions() {
        return readyVersions.get();
    }
}
