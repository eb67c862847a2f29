// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.console.history.Sampler;
import gatun.console.history.VersionRates;
import gatun.console.history.VersionRates.VersionKey;
import gatun.console.http.Alerts.ConsoleAlert;
import gatun.http.json.JsonWriter;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.tensor.GatunException;
import gatun.protocol.ServerSurroundings;
import gatun.runtime.ControlMode;
import gatun.runtime.ModelIdentifier;
import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.LoadProgress;
import gatun.runtime.ModelStatus.ModelState;
import gatun.runtime.ModelVersion;
import gatun.runtime.ServerMetadata;
import gatun.runtime.server.InferenceServer;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/** The server at a glance: its models, memory, connections and alerts. For one thread at a time. */
final class Overview {
    private final InferenceServer server;
    private final Sampler sampler;
    private final Alerts alerts;
    private final ProcessUse process;
    private final ServerSurroundings surroundings;
    private final ModelLines models;
    private final IntSupplier viewers;

    /** An overview of {@code server}. {@code viewers} says how many read the stream of events. */
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
        this.models = new ModelLines(server, surroundings, workers);
        this.viewers = viewers;
    }

    void write(JsonWriter text) {
        JsonText json = new JsonText(text);
        json.object().member("atMillis", System.currentTimeMillis());
        writeServer(json);
        Map<VersionKey, VersionRates> rates = sampler.rates();
        models.write(json, rates);
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

    /** The overview's line of each version. For one thread at a time. */
    static final class ModelLines {
        /** Looking at the repositories for models that were never loaded may be slow. */
        private static final long INDEX_NANOS = TimeUnit.SECONDS.toNanos(10);

        private final InferenceServer server;
        private final ServerSurroundings surroundings;
        private final WorkerUse workers;

        private List<ModelStatus> unloaded = List.of();
        private long indexedNanos;
        private boolean indexed;

        ModelLines(InferenceServer server, ServerSurroundings surroundings, WorkerUse workers) {
            this.server = server;
            this.surroundings = surroundings;
            this.workers = workers;
        }

        void write(JsonText json, Map<VersionKey, VersionRates> rates) {
            json.array("models");
            Map<String, Long> residentBytes = workers.residentBytes();
            Map<String, ServerSurroundings.Fetch> fetches = fetches();
            Set<String> unknown = new TreeSet<>(fetches.keySet());
            Set<String> known = new HashSet<>();
            for (ModelStatus model : server.states()) {
                known.add(model.name());
                unknown.remove(model.name());
                VersionKey key = new VersionKey(ModelIdentifier.of(model.name()), model.version());
                write(
                        json,
                        model,
                        rates.getOrDefault(key, VersionRates.IDLE),
                        fetches.get(model.name()),
                        residentBytes.getOrDefault(model.name(), 0L));
            }
            for (ModelStatus model : unloaded()) {
                if (known.add(model.name())) {
                    unknown.remove(model.name());
                    write(json, model, VersionRates.IDLE, fetches.get(model.name()), 0);
                }
            }
            for (String model : unknown) {
                ModelStatus coming = new ModelStatus(model, "", "", ModelState.LOADING, "", Duration.ZERO);
                write(json, coming, VersionRates.IDLE, fetches.get(model), 0);
            }
            json.endArray();
        }

        private Map<String, ServerSurroundings.Fetch> fetches() {
            Map<String, ServerSurroundings.Fetch> byModel = new HashMap<>();
            for (ServerSurroundings.Fetch fetch : surroundings.fetches()) {
                fetch.models().forEach(model -> byModel.put(model, fetch));
            }
            return byModel;
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

        /** {@code fetch} brings its files, if not null; {@code residentBytes} of its processes, 0 if none serves it. */
        private void write(
                JsonText json,
                ModelStatus model,
                VersionRates rates,
                ServerSurroundings.@Nullable Fetch fetch,
                long residentBytes) {
            boolean never = model.state() == ModelState.UNKNOWN;
            json.object()
                    .member("name", model.name())
                    .member("version", model.version())
                    .member(
                            "state",
                            never
                                    ? ModelState.UNAVAILABLE.name()
                                    : model.state().name())
                    .member("reason", never ? "not loaded" : model.reason())
                    .member("engine", model.engine());
            if (model.state() == ModelState.READY) {
                writeServing(json, model, rates, residentBytes);
            }
            json.member("requestsPerSecond", rates.requestsPerSecond())
                    .member("failuresPerSecond", rates.failuresPerSecond())
                    .member("inferencesPerSecond", rates.inferencesPerSecond());
            rates.p50Nanos().ifPresent(nanos -> json.member("p50Nanos", nanos));
            rates.p99Nanos().ifPresent(nanos -> json.member("p99Nanos", nanos));
            json.member("pending", rates.load().pending());
            rates.meanBatch().ifPresent(size -> json.member("meanBatch", size));
            writeLoading(json, model, fetch);
            json.member("loadNanos", model.loadTime().toNanos()).endObject();
        }

        private void writeServing(JsonText json, ModelStatus model, VersionRates rates, long residentBytes) {
            ModelVersion version;
            try {
                version = server.model(model.name(), model.version());
            } catch (GatunException e) {
                return; // it went just now, or there are several of its name
            }
            json.member("instances", version.instanceCount())
                    .member("busyInstances", rates.load().busyInstances())
                    .member("decoupled", version.decoupled());
            long byteSize = residentBytes > 0 ? residentBytes : version.memoryByteSize();
            if (byteSize > 0) {
                json.member("memoryBytes", byteSize).member("memoryIs", residentBytes > 0 ? "resident" : "estimated");
            }
        }

        private static void writeLoading(JsonText json, ModelStatus model, ServerSurroundings.@Nullable Fetch fetch) {
            long now = System.currentTimeMillis();
            if (model.loading().isPresent()) {
                LoadProgress progress = model.loading().get();
                json.member("loadingMillis", Math.max(0, now - progress.beganMillis()))
                        .object("loading")
                        .member("phase", progress.phase().wireName());
                if (progress.instances() > 0) {
                    json.member("instancesReady", progress.instancesReady()).member("instances", progress.instances());
                }
                json.endObject();
            } else if (fetch != null) {
                json.member("loadingMillis", Math.max(0, now - fetch.beganMillis()))
                        .object("loading")
                        .member("phase", "fetching")
                        .member("bytes", fetch.bytes())
                        .member("totalBytes", fetch.totalBytes())
                        .endObject();
            }
        }
    }
}
