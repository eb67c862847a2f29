// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.console.ServerSurroundings;
import gatun.console.history.Sampler;
import gatun.console.history.VersionKey;
import gatun.console.history.VersionRates;
import gatun.http.json.JsonWriter;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ControlMode;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelState;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServerMetadata;
import gatun.runtime.server.InferenceServer;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/** The server at a glance: its models, memory, connections and alerts. For one thread at a time. */
final class Overview {
    /** Looking at the repositories for models that were never loaded may be slow. */
    private static final long INDEX_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final InferenceServer server;
    private final Sampler sampler;
    private final Alerts alerts;
    private final ProcessUse process;
    private final ServerSurroundings surroundings;
    private final WorkerUse workers;
    private final IntSupplier viewers;

    /** Since when each version is being loaded, in milliseconds since 1970, as far as anybody looked. */
    private final Map<VersionKey, Long> loading = new HashMap<>();

    private List<ModelStatus> unloaded = List.of();
    private long indexedNanos;
    private boolean indexed;

    /**
     * An overview of {@code server}.
     *
     * @param viewers how many read the stream of events
     */
    Overview(
            InferenceServer server,
            Sampler sampler,
            Alerts alerts,
            ProcessUse process,
            ServerSurroundings surroundings,
            WorkerUse workers,
            IntSupplier viewers) {
        this.server = server;
        this.sampler = sampler;
        this.alerts = alerts;
        this.process = process;
        this.surroundings = surroundings;
        this.workers = workers;
        this.viewers = viewers;
    }

    /** Writes it as it is now. */
    void write(JsonWriter text) {
        JsonText json = new JsonText(text);
        json.object().member("atMillis", System.currentTimeMillis());
        writeServer(json);
        Map<VersionKey, VersionRates> rates = sampler.rates();
        writeModels(json, rates);
        json.object("totals")
                .member(
                        "requestsPerSecond",
                        rates.values().stream()
                                .mapToDouble(VersionRates::requestsPerSecond)
                                .sum())
                .member(
                        "failuresPerSecond",
                        rates.values().stream()
                                .mapToDouble(VersionRates::failuresPerSecond)
                                .sum())
                .endObject();
        writeMemory(json);
        ServerSurroundings.Connections connections = surroundings.connections();
        json.object("connections")
                .member("http", connections.http())
                .member("grpc", connections.grpc())
                .member("lanes", surroundings.lanes().size())
                .member("viewers", viewers.getAsInt())
                .endObject();
        writeAlerts(json);
        json.endObject();
    }

    private void writeServer(JsonText json) {
        ServerMetadata metadata = server.metadata();
        boolean byName = server.controlMode() == ControlMode.EXPLICIT;
        json.object("server")
                .member("name", metadata.name())
                .member("version", metadata.version())
                .member("uptimeMillis", ManagementFactory.getRuntimeMXBean().getUptime())
                .member("live", !server.exiting())
                .member("ready", !server.exiting() && server.ready())
                .member("controlMode", server.controlMode().name().toLowerCase(Locale.ROOT))
                .object("actions")
                .member("load", byName)
                .member("unload", byName)
                .member("instances", byName)
                .endObject();
        surroundings.httpPort().ifPresent(port -> json.member("httpPort", port));
        surroundings.grpcPort().ifPresent(port -> json.member("grpcPort", port));
        json.endObject();
    }

    private void writeModels(JsonText json, Map<VersionKey, VersionRates> rates) {
        json.array("models");
        Map<String, Long> residentBytes = workers.residentBytes();
        Set<VersionKey> nowLoading = new HashSet<>();
        Set<String> known = new HashSet<>();
        for (ModelStatus model : server.states()) {
            known.add(model.name());
            VersionKey key = new VersionKey(ModelIdentifier.of(model.name()), model.version());
            if (model.state() == ModelState.LOADING) {
                nowLoading.add(key);
                loading.putIfAbsent(key, System.currentTimeMillis());
            }
            writeModel(
                    json,
                    model,
                    rates.getOrDefault(key, VersionRates.IDLE),
                    Optional.ofNullable(loading.get(key)),
                    residentBytes.getOrDefault(model.name(), 0L));
        }
        loading.keySet().retainAll(nowLoading);
        for (ModelStatus model : unloaded()) {
            if (!known.contains(model.name())) {
                writeModel(json, model, VersionRates.IDLE, Optional.empty(), 0);
            }
        }
        json.endArray();
    }

    /** The models that can be loaded and never were; known anew after some seconds. */
    private List<ModelStatus> unloaded() {
        if (server.controlMode() != ControlMode.EXPLICIT) {
            return List.of();
        }
        long now = System.nanoTime();
        if (!indexed || now - indexedNanos > INDEX_NANOS) {
            unloaded = server.index().stream()
                    .filter(model -> model.state() == ModelState.UNKNOWN)
                    .toList();
            indexedNanos = now;
            indexed = true;
        }
        return unloaded;
    }

    /** @param memoryBytes of the processes that serve it; 0 for a model that none serves */
    private void writeModel(
            JsonText json, ModelStatus model, VersionRates rates, Optional<Long> loadingSince, long memoryBytes) {
        boolean never = model.state() == ModelState.UNKNOWN;
        json.object()
                .member("name", model.name())
                .member("version", model.version())
                .member(
                        "state",
                        never ? ModelState.UNAVAILABLE.name() : model.state().name())
                .member("reason", never ? "not loaded" : model.reason())
                .member("engine", model.engine());
        if (model.state() == ModelState.READY) {
            writeInstances(json, model);
        }
        if (memoryBytes > 0) {
            json.member("memoryBytes", memoryBytes);
        }
        json.member("requestsPerSecond", rates.requestsPerSecond())
                .member("failuresPerSecond", rates.failuresPerSecond())
                .member("inferencesPerSecond", rates.inferencesPerSecond());
        rates.p50Nanos().ifPresent(nanos -> json.member("p50Nanos", nanos));
        rates.p99Nanos().ifPresent(nanos -> json.member("p99Nanos", nanos));
        json.member("pending", rates.pending());
        rates.meanBatch().ifPresent(size -> json.member("meanBatch", size));
        loadingSince.ifPresent(since -> json.member("loadingMillis", System.currentTimeMillis() - since));
        json.member("loadNanos", model.loadTime().toNanos()).endObject();
    }

    private void writeInstances(JsonText json, ModelStatus model) {
        ModelVersion version;
        try {
            version = server.model(model.name(), model.version());
        } catch (GatunException e) {
            return; // it went just now, or there are several of its name
        }
        json.member("instances", Sampler.instances(version.config().getInstanceGroupList()))
                .member("decoupled", version.decoupled());
    }

    private void writeMemory(JsonText json) {
        json.object("pool")
                .member("totalBytes", server.buffers().byteLimit())
                .member("usedBytes", server.buffers().usedBytes())
                .endObject();
        List<CudaDevice> gpus = CudaDevices.find().all();
        if (!gpus.isEmpty()) {
            json.array("gpuPools");
            for (CudaDevice gpu : gpus) {
                json.object()
                        .member("device", gpu.ordinal())
                        .member("totalBytes", gpu.pool().byteLimit())
                        .member("usedBytes", gpu.pool().lentBytes())
                        .endObject();
            }
            json.endArray();
        }
        process.write(json);
    }

    private void writeAlerts(JsonText json) {
        json.array("alerts");
        for (Alerts.Since since : alerts.found()) {
            ConsoleAlert alert = since.alert();
            json.object()
                    .member("severity", alert.severity().wireName())
                    .member("code", alert.code())
                    .member("subject", alert.subject())
                    .member("text", alert.text())
                    .member("advice", alert.advice())
                    .member("sinceMillis", since.sinceMillis())
                    .endObject();
        }
        json.endArray();
    }
}
