// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import gatun.bench.load.Load;
import gatun.bench.load.Measurement;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.StoppingRule;
import gatun.bench.load.Window;
import java.util.Optional;

/** A line of the result: one load over one transport, with {@code batch} inferences per request. */
public record Row(String url, String transport, long batch, Measurement measurement) {
    /** The row's label in legends: the transport and the load. */
    public String text() {
        return transport + ", " + loadText();
    }

    /** The load in words. */
    public String loadText() {
        return switch (measurement.load()) {
            case Load.Concurrency closed -> "concurrency " + closed.requests();
            case Load.RequestRate open -> open.text();
        };
    }

    /** The measurements of the row. */
    public Window window() {
        return measurement.window();
    }

    /** Inferences per second, each element of a batch being one. */
    public double inferencesPerSecond() {
        return window().perSecond() * batch;
    }

    /** Whether the last windows were alike. */
    public boolean isStable() {
        return measurement.verdict() == StoppingRule.Verdict.STABLE;
    }

    /** The server's counters; empty where it has none, or counted no request. */
    public Optional<ServerCounters> server() {
        return window().server().filter(counters -> counters.requests() > 0);
    }

    /** Average latency that the server does not account for, in nanoseconds: network and waits. */
    public double elsewhereNanos(ServerCounters counters) {
        return Math.max(
                0,
                window().averageNanos() - counters.perRequest(counters.times().requestNanos()));
    }

    /** {@code total} for each answered request. */
    public double perRequest(long total) {
        return window().answered() == 0 ? 0 : (double) total / window().answered();
    }
}
