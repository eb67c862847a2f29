// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;

/**
 * One version between two samples. Rates are per second, {@code batch} is in items, durations are means in
 * microseconds; absent where nothing was counted.
 */
record ModelLine(
        Sample.Model model,
        ModelCounts total,
        double rate,
        double failureRate,
        Times times,
        OptionalDouble batch,
        OptionalDouble waiting) {
    /** The durations of a version's requests. */
    record Times(
            OptionalDouble mean,
            OptionalDouble median,
            OptionalDouble late,
            OptionalDouble queue,
            OptionalDouble input,
            OptionalDouble infer,
            OptionalDouble output) {}

    /** The versions of {@code present}, and what they did since {@code before}. */
    static List<ModelLine> between(Sample before, Sample present) {
        double seconds = Math.max(1, present.takenNanos() - before.takenNanos()) / (double) TimeUnit.SECONDS.toNanos(1);
        List<ModelLine> lines = new ArrayList<>();
        for (Sample.Model model : present.models()) {
            ModelCounts total = present.counts().getOrDefault(model.key(), ModelCounts.NONE);
            ModelCounts done = total.since(before.counts().getOrDefault(model.key(), total));
            Times times = new Times(
                    mean(done.requestNanos(), done.requests()),
                    present.metrics().quantile(model.key(), "0.5"),
                    present.metrics().quantile(model.key(), "0.99"),
                    mean(done.queueNanos(), done.requests()),
                    mean(done.inputNanos(), done.requests()),
                    mean(done.inferNanos(), done.requests()),
                    mean(done.outputNanos(), done.requests()));
            lines.add(new ModelLine(
                    model,
                    total,
                    done.requests() / seconds,
                    done.failures() / seconds,
                    times,
                    done.executions() == 0
                            ? OptionalDouble.empty()
                            : OptionalDouble.of((double) done.inferences() / done.executions()),
                    present.metrics().queue(model.key())));
        }
        return lines;
    }

    private static OptionalDouble mean(long nanos, long count) {
        return count == 0 ? OptionalDouble.empty() : OptionalDouble.of(nanos / 1000.0 / count);
    }
}
