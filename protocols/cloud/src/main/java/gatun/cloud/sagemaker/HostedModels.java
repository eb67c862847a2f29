// SPDX-License-Identifier: Apache-2.0
package gatun.cloud.sagemaker;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelOverride;
import gatun.runtime.ModelState;
import gatun.runtime.Subscription;
import gatun.runtime.server.InferenceServer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The models that SageMaker has had loaded, by the name that it gives each: a hash. Clients of the endpoint reach only
 * these. Safe for any thread.
 */
final class HostedModels {
    private static final Logger LOG = LoggerFactory.getLogger(HostedModels.class);

    /** SageMaker gives an unload 360 seconds. */
    private static final Duration UNLOAD_LIMIT = Duration.ofSeconds(350);

    private final Map<String, Hosted> byHash = new ConcurrentHashMap<>();
    private final InferenceServer server;
    private final Path root;

    /** @param root the folder that all models lie in */
    HostedModels(InferenceServer server, Path root) {
        this.server = server;
        this.root = root.toAbsolutePath().normalize();
    }

    /**
     * A model of SageMaker's.
     *
     * @param name the server's name of the model
     * @param archive the folder that it came from
     * @param open whether it may be asked, and is neither being loaded nor unloaded
     */
    record Hosted(String name, ModelArchive archive, boolean open) {}

    /**
     * Loads the model in the folder {@code url}, and waits until it is ready.
     *
     * @param hash the name by which SageMaker asks for it
     * @param name the name that the model gets in the server
     * @throws GatunException ALREADY_EXISTS for a name that is in use; nothing has changed after any failure
     */
    void load(String hash, String name, String url) {
        ModelArchive archive = ModelArchive.read(root, url, name);
        if (byHash.putIfAbsent(hash, new Hosted(name, archive, false)) != null) {
            throw new GatunException(
                    ErrorCode.ALREADY_EXISTS, "model repository '" + archive.url() + "' has already been registered");
        }
        boolean loaded = false;
        try {
            server.register(archive.models());
            try {
                server.load(name, ModelOverride.NONE);
                loaded = true;
            } finally {
                if (!loaded) {
                    remove(name, archive);
                }
            }
            byHash.put(hash, new Hosted(name, archive, true));
        } finally {
            if (!loaded) {
                byHash.remove(hash);
            }
        }
    }

    /** The model of that hash; empty where none was loaded. */
    Optional<Hosted> find(String hash) {
        return Optional.ofNullable(byHash.get(hash)).filter(Hosted::open);
    }

    /** All models that may be asked, by hash. */
    Map<String, Hosted> all() {
        Map<String, Hosted> open = new TreeMap<>(byHash);
        open.values().removeIf(hosted -> !hosted.open());
        return open;
    }

    /**
     * Unloads a model and those that were loaded for it, and waits until their requests have ended.
     *
     * @return false where none of that hash was loaded
     */
    boolean unload(String hash) {
        Hosted hosted = byHash.get(hash);
        if (hosted == null
                || !hosted.open()
                || !byHash.replace(hash, hosted, new Hosted(hosted.name(), hosted.archive(), false))) {
            return false;
        }
        try {
            remove(hosted.name(), hosted.archive());
        } finally {
            byHash.remove(hash);
        }
        return true;
    }

    private void remove(String name, ModelArchive archive) {
        List<String> names = archive.names();
        server.unload(name, true);
        if (!awaitEnd(names)) {
            LOG.warn("Model '{}' still answers requests {} after it was unloaded", name, UNLOAD_LIMIT);
        }
        server.unregister(names);
    }

    /** Waits until none of the models holds memory; false when that takes too long. */
    private boolean awaitEnd(List<String> names) {
        long deadline = System.nanoTime() + UNLOAD_LIMIT.toNanos();
        Semaphore changes = new Semaphore(0);
        Subscription subscription = server.onChange(changes::release);
        try {
            while (isServed(names)) {
                if (!changes.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    return !isServed(names);
                }
                changes.drainPermits();
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            subscription.close();
        }
    }

    private boolean isServed(List<String> names) {
        return server.index().stream()
                .filter(model -> names.contains(model.name()))
                .anyMatch(model -> model.state() != ModelState.UNAVAILABLE && model.state() != ModelState.UNKNOWN);
    }
}
