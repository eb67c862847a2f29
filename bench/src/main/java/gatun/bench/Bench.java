// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.bench.data.DataSet;
import gatun.bench.data.DataSet.Step;
import gatun.bench.data.ModelDescription;
import gatun.bench.endpoint.LoadTransport;
import gatun.bench.endpoint.TargetException;
import gatun.bench.endpoint.TensorFlowTarget;
import gatun.bench.endpoint.V2Models;
import gatun.bench.endpoint.V2Target;
import gatun.bench.load.Caller;
import gatun.bench.load.Load;
import gatun.bench.load.LoadRun;
import gatun.bench.load.Measurement;
import gatun.bench.load.Measurement.MeasurementPlan;
import gatun.bench.load.Target;
import gatun.bench.report.ProgressLine;
import gatun.bench.report.Report;
import gatun.bench.report.Report.Subject;
import gatun.bench.report.Row;
import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.client.ServerMetadata;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One run of the command: every load on every endpoint. For one thread. */
final class Bench {
    private final BenchCommand flags;
    private final EmbeddedModels embedded;
    private final ProgressLine progress;
    private final Interruption interruption;
    private final List<Row> rows = new ArrayList<>();
    private final Map<String, String> servers = new LinkedHashMap<>();
    private boolean responsesChecked;

    Bench(BenchCommand flags, EmbeddedModels embedded, ProgressLine progress, Interruption interruption) {
        this.flags = flags;
        this.embedded = embedded;
        this.progress = progress;
        this.interruption = interruption;
    }

    /** Measures all. Throws {@link IllegalArgumentException} when the flags do not go together. */
    Report run() {
        List<TargetServer> endpoints = TargetServer.of(flags.connection);
        List<Load> loads = flags.load.loads();
        Instant began = Instant.now();
        for (int i = 0; i < endpoints.size() && !interruption.isAsked(); i++) {
            measure(endpoints.get(i), loads, i * loads.size(), endpoints.size() * loads.size());
        }
        return new Report(
                new Subject(flags.model, flags.version, flags.data.text()),
                began,
                environment(),
                flags.load.countingPercentile(),
                responsesChecked,
                rows);
    }

    private void measure(TargetServer endpoint, List<Load> loads, int done, int all) {
        try (OpenTarget open = OpenTarget.open(flags, embedded, endpoint)) {
            open.server().ifPresent(server -> servers.put("server " + endpoint.name(), server));
            responsesChecked |= open.data().checksResponses();
            if (!flags.data.inSequences()) {
                requireAnswer(endpoint, open.target());
            }
            measure(endpoint, open.target(), open.batch(), loads, done, all);
        }
    }

    private void measure(TargetServer endpoint, Target target, long batch, List<Load> loads, int done, int all) {
        MeasurementPlan plan = flags.load.plan();
        for (int i = 0; i < loads.size() && !interruption.isAsked(); i++) {
            interruption.measuring();
            progress.begin(endpoint.text(), done + i + 1, all);
            Measurement measurement =
                    LoadRun.measure(target, loads.get(i), plan, interruption::isAsked, progress::show);
            rows.add(new Row(endpoint.url(), endpoint.text(), batch, measurement));
            if (isAboveLimit(measurement, plan)) {
                return;
            }
        }
    }

    private boolean isAboveLimit(Measurement measurement, MeasurementPlan plan) {
        return flags.load
                .latencyLimit
                .filter(limit -> plan.rule().latencyNanos(measurement.window()) > limit.toNanos())
                .isPresent();
    }

    /** Sends one request before there is load, so that a fault that every request would hit is reported once. */
    private static void requireAnswer(TargetServer endpoint, Target target) {
        try (Caller caller = target.caller(0)) {
            caller.prepare();
            caller.call();
            caller.finish();
        } catch (ClientException e) {
            throw new TargetException("the first request (" + endpoint.text() + ") failed: " + e.getMessage(), e);
        }
    }

    private Map<String, String> environment() {
        Map<String, String> environment = new LinkedHashMap<>();
        environment.put("command", flags.commandLine());
        environment.putAll(servers);
        environment.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
        environment.put("architecture", System.getProperty("os.arch"));
        environment.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
        environment.put("java", System.getProperty("java.vm.name") + " " + System.getProperty("java.vm.version"));
        environment.put(
                "client_heap_limit_bytes", Long.toString(Runtime.getRuntime().maxMemory()));
        return environment;
    }

    /** A server ready for load, and its data. Owns both. {@code batch} is the inferences of a request. */
    record OpenTarget(Target target, DataSet data, long batch, Optional<String> server) implements AutoCloseable {
        /** Connects to {@code endpoint}, asks for the model's description, and gets the data ready. */
        static OpenTarget open(BenchCommand flags, EmbeddedModels embedded, TargetServer endpoint) {
            return switch (flags.connection.protocol) {
                case V2 -> v2(flags, client(flags, embedded, endpoint), endpoint);
                case TENSORFLOW -> tensorFlow(flags, endpoint);
            };
        }

        @Override
        public void close() {
            target.close();
            data.close();
        }

        private static OpenTarget v2(BenchCommand flags, GatunClient client, TargetServer endpoint) {
            DataSet data = null;
            try {
                ModelDescription model = V2Models.describe(client, flags.model, flags.version);
                data = flags.data.plan(flags.load.seed).open(model);
                Target target = V2Target.open(
                        client, endpoint.transport(), model, flags.version, data, flags.data.inSequences());
                return new OpenTarget(target, data, batch(model, data), server(client));
            } catch (RuntimeException | Error e) {
                client.close();
                close(data);
                throw e;
            }
        }

        private static OpenTarget tensorFlow(BenchCommand flags, TargetServer endpoint) {
            if (flags.data.inSequences()) {
                throw new TargetException("TensorFlow Serving has no sequences: leave --sequence-length away");
            }
            TensorFlowTarget.Connection connection = TensorFlowTarget.connect(
                    flags.connection.options(endpoint.url()),
                    endpoint.transport(),
                    flags.model,
                    flags.version,
                    flags.connection.signature);
            DataSet data = null;
            try {
                ModelDescription model = connection.describe();
                data = flags.data.plan(flags.load.seed).open(model);
                return new OpenTarget(connection.target(data), data, batch(model, data), Optional.empty());
            } catch (RuntimeException | Error e) {
                connection.close();
                close(data);
                throw e;
            }
        }

        private static GatunClient client(BenchCommand flags, EmbeddedModels embedded, TargetServer endpoint) {
            if (endpoint.transport().wire() == LoadTransport.Wire.EMBEDDED) {
                return embedded.open(flags.connection.embedded.orElseThrow());
            }
            boolean json = endpoint.transport().wire() == LoadTransport.Wire.HTTP_JSON;
            return GatunClient.connect(flags.connection.options(endpoint.url()).withBinaryTensors(!json));
        }

        private static Optional<String> server(GatunClient client) {
            try {
                ServerMetadata metadata = client.server().metadata();
                return Optional.of(metadata.name() + " " + metadata.version());
            } catch (ClientException e) {
                return Optional.empty();
            }
        }

        private static long batch(ModelDescription model, DataSet data) {
            Step first = data.step(0);
            return model.batched() && !first.inputs().isEmpty()
                    ? first.inputs().getFirst().spec().shape().dim(0)
                    : 1;
        }

        private static void close(@Nullable DataSet data) {
            if (data != null) {
                data.close();
            }
        }
    }
}
