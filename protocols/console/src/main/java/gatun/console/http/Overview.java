// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.console.ServerSurroundings;
import gatun.console.history.Sampler;
import gatun.console.history.VersionKey;
import gatun.console.history.VersionRates;
import gatun.http.json.JsonWriter;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.runtime.ControlMode;
import gatun.runtime.ServerMetadata;
import gatun.runtime.server.InferenceServer;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntSupplier;

/** The server at a glance: its models, memory, connections and alerts. For one thread at a time. */
final class Overview {
    private final InferenceServer server;
    private final Sampler sampler;
    private final Alerts alerts;
    private final ProcessUse process;
    private final ServerSurroundings surroundings;
    private final ModelLines models;
    private final IntSupplier viewers;

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
        this.models = new ModelLines(server, surroundings, workers);
        this.viewers = viewers;
    }

    /** Writes it as it is now. */
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
}
