// SPDX-License-Identifier: Apache-2.0
package gatun.console.http;

import gatun.console.history.Sampler;
import gatun.console.history.VersionRates;
import gatun.console.history.VersionRates.VersionKey;
import gatun.console.http.Alerts.ConsoleAlert.Severity;
import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.protocol.ServerSurroundings;
import gatun.runtime.ModelStatus;
import gatun.runtime.server.InferenceServer;
import gatun.spi.Setting;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Finds what an operator should know about a server. {@link #look} is for one thread; any may read the result. */
final class Alerts {
    /** How many are shown; with more, the least severe are left out. */
    static final int LIMIT = 100;

    private static final double POOL_SHORT = 0.9;
    private static final Duration CERTIFICATE_NOTICE = Duration.ofDays(14);

    /** For how many looks refused connections are told of. */
    private static final int REFUSAL_LOOKS = 6;

    private final InferenceServer server;
    private final Sampler sampler;
    private final ServerSurroundings surroundings;
    private final WorkerUse workers;
    private long refusedBefore = -1;
    private long refusedLately;
    private int refusalLooks;

    private volatile Map<ConsoleAlert, Long> sinceMillis = Map.of();

    /** An alert, and since when there is one of its code and subject, in milliseconds since 1970. */
    record Since(ConsoleAlert alert, long sinceMillis) {}

    Alerts(InferenceServer server, Sampler sampler, ServerSurroundings surroundings, WorkerUse workers) {
        this.server = server;
        this.sampler = sampler;
        this.surroundings = surroundings;
        this.workers = workers;
    }

    void look() {
        List<ConsoleAlert> found = new ArrayList<>();
        addModels(found);
        addQueues(found);
        addWorkers(found);
        addMemory(found);
        addConnections(found);
        addCertificates(found);
        found.sort(Comparator.comparing(ConsoleAlert::severity));
        Map<String, Long> before = new HashMap<>();
        sinceMillis.forEach((alert, since) -> before.put(alert.code() + " " + alert.subject(), since));
        Map<ConsoleAlert, Long> now = new HashMap<>();
        long nowMillis = System.currentTimeMillis();
        for (ConsoleAlert alert : found.subList(0, Math.min(LIMIT, found.size()))) {
            now.put(alert, before.getOrDefault(alert.code() + " " + alert.subject(), nowMillis));
        }
        sinceMillis = now;
    }

    /** The alerts that were found, the worst first. */
    List<Since> found() {
        return sinceMillis.entrySet().stream()
                .map(entry -> new Since(entry.getKey(), entry.getValue()))
                .sorted(Comparator.comparing((Since one) -> one.alert().severity())
                        .thenComparing(one -> one.alert().code())
                        .thenComparing(one -> one.alert().subject()))
                .toList();
    }

    private void addModels(List<ConsoleAlert> found) {
        for (ModelStatus model : server.states()) {
            if (model.isFailed()) {
                String version = model.version().isEmpty() ? "" : " version " + model.version();
                found.add(
                        switch (model.state()) {
                            case READY ->
                                new ConsoleAlert(
                                        Severity.WARNING,
                                        "model-outdated",
                                        model.name(),
                                        "Model '" + model.name() + "'" + version + " serves, but not its newest files: "
                                                + model.reason(),
                                        "Mend the files, which 'gatun check' checks, and load the model again.");
                            case UNAVAILABLE, UNKNOWN ->
                                new ConsoleAlert(
                                        Severity.ERROR,
                                        "model-unavailable",
                                        model.name(),
                                        "Model '" + model.name() + "'" + version + " cannot answer: " + model.reason(),
                                        "Mend the files, which 'gatun check' checks, and load the model again.");
                            case LOADING, UNLOADING ->
                                new ConsoleAlert(
                                        Severity.WARNING,
                                        "model-waits",
                                        model.name(),
                                        "Model '" + model.name() + "'" + version + ": " + model.reason(),
                                        "Put the files into the model's folder.");
                        });
            }
        }
    }

    private void addQueues(List<ConsoleAlert> found) {
        for (Map.Entry<VersionKey, VersionRates> entry : sampler.rates().entrySet()) {
            long refused = entry.getValue().refused();
            if (refused > 0) {
                String model = entry.getKey().model().name();
                found.add(new ConsoleAlert(
                        Severity.WARNING,
                        "queue-full",
                        model,
                        "The queue of model '" + model + "' version "
                                + entry.getKey().version() + " has refused " + refused + " requests in the last 30 s.",
                        "Add instances (instance_group), let requests run together (dynamic_batching), allow a longer"
                                + " queue (max_queue_size) or a longer wait, or add servers."));
            }
        }
    }

    private void addWorkers(List<ConsoleAlert> found) {
        workers.look();
        workers.restartedLately()
                .forEach((model, restarts) -> found.add(new ConsoleAlert(
                        Severity.WARNING,
                        "worker-restarted",
                        model,
                        "Processes of model '" + model + "' have ended and were started again " + restarts
                                + (restarts == 1 ? " time" : " times") + " in the last 30 s; their requests failed.",
                        "The log and the model's last failures say how they ended: mend the model, or allow it more"
                                + " memory (isolation_memory_limit) or time (execution_timeout_ms).")));
    }

    private void addMemory(List<ConsoleAlert> found) {
        BufferPool pool = server.buffers();
        if (pool.usedBytes() > POOL_SHORT * pool.byteLimit()) {
            found.add(new ConsoleAlert(
                    Severity.WARNING,
                    "pool-short",
                    "",
                    "Requests and responses occupy " + pool.usedBytes() + " of the " + pool.byteLimit()
                            + " bytes that they may; those that find no room are refused.",
                    "Give them more by " + Setting.BUFFER_POOL_BYTE_SIZE
                            + ", send fewer or smaller requests at a time, or add servers."));
        }
        for (CudaDevice gpu : CudaDevices.find().all()) {
            gpu.failure()
                    .ifPresent(failure -> found.add(new ConsoleAlert(
                            Severity.ERROR,
                            "gpu-failed",
                            "GPU " + gpu.ordinal(),
                            "GPU " + gpu.ordinal() + " has failed and is out of use: " + failure,
                            "Look at the system's log, and start the server again.")));
        }
    }

    private void addConnections(List<ConsoleAlert> found) {
        long refused = surroundings.connections().refused();
        if (refusedBefore >= 0 && refused > refusedBefore) {
            refusedLately = refusalLooks > 0 ? refusedLately + refused - refusedBefore : refused - refusedBefore;
            refusalLooks = REFUSAL_LOOKS;
        }
        refusedBefore = refused;
        if (refusalLooks > 0) {
            refusalLooks--;
            found.add(new ConsoleAlert(
                    Severity.WARNING,
                    "connections-refused",
                    "",
                    refusedLately + " connections were refused lately, since there were too many.",
                    "Have clients use their connections again, or allow more by " + Setting.MAX_CONNECTIONS + " and "
                            + Setting.MAX_CONNECTIONS_PER_ADDRESS + "."));
        }
    }

    private void addCertificates(List<ConsoleAlert> found) {
        Instant now = Instant.now();
        for (ServerSurroundings.Certificate certificate : surroundings.certificates()) {
            if (certificate.end().isBefore(now.plus(CERTIFICATE_NOTICE))) {
                boolean over = certificate.end().isBefore(now);
                found.add(new ConsoleAlert(
                        over ? Severity.ERROR : Severity.WARNING,
                        "certificate-ends",
                        certificate.file(),
                        "The certificate in " + certificate.file() + (over ? " ended on " : " ends on ")
                                + certificate.end() + ".",
                        "Put a new one into the file; the server reads it by itself."));
            }
        }
    }

    /** Something that an operator should know about {@code subject}: a model, a file, or nothing in particular. */
    record ConsoleAlert(Severity severity, String code, String subject, String text, String advice) {
        /** How bad an alert is; the worst first. */
        enum Severity {
            ERROR("error"),
            WARNING("warning");

            private final String wireName;

            Severity(String wireName) {
                this.wireName = wireName;
            }

            String wireName() {
                return wireName;
            }
        }
    }
}
