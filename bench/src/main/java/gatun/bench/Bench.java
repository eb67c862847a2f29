// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.bench.endpoint.TargetException;
import gatun.bench.load.Caller;
import gatun.bench.load.Load;
import gatun.bench.load.LoadRun;
import gatun.bench.load.Measurement;
import gatun.bench.load.MeasurementPlan;
import gatun.bench.load.Target;
import gatun.bench.report.ProgressLine;
import gatun.bench.report.Report;
import gatun.bench.report.Row;
import gatun.bench.report.Subject;
import gatun.client.ClientException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

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

    /**
     * Measures all.
     *
     * @throws IllegalArgumentException when the flags do not go together
     */
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
}
