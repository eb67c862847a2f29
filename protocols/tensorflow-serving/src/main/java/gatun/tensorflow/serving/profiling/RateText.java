// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.profiling;

import gatun.runtime.ModelStatistics;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/** How many requests models answered between two readings of their counters, as a text. */
public final class RateText {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT);

    /** The counts of what models did. */
    private record Work(long answered, long inferences, long failed, long queueNanos, long computeNanos) {
        static final Work NONE = new Work(0, 0, 0, 0, 0);

        static Work of(ModelStatistics model) {
            ModelStatistics.StageNanos nanos = model.totals().nanos();
            return new Work(
                    model.successCount(),
                    model.totals().inferenceCount(),
                    model.failureCount(),
                    nanos.queue(),
                    nanos.computeInput() + nanos.computeInfer() + nanos.computeOutput());
        }

        /** The work since; the counters of a model that was loaded anew began at zero. */
        Work since(Work before) {
            return answered < before.answered || failed < before.failed
                    ? this
                    : new Work(
                            answered - before.answered,
                            inferences - before.inferences,
                            failed - before.failed,
                            queueNanos - before.queueNanos,
                            computeNanos - before.computeNanos);
        }

        Work plus(Work other) {
            return new Work(
                    answered + other.answered,
                    inferences + other.inferences,
                    failed + other.failed,
                    queueNanos + other.queueNanos,
                    computeNanos + other.computeNanos);
        }

        boolean isNone() {
            return answered == 0 && failed == 0;
        }

        String told(String name, double seconds) {
            return String.format(
                    Locale.ROOT,
                    "%s: %.1f requests/s, %.1f inferences/s, %.1f failures/s, queue %.3f ms, compute %.3f ms\n",
                    name,
                    answered / seconds,
                    inferences / seconds,
                    failed / seconds,
                    millisEach(queueNanos),
                    millisEach(computeNanos));
        }

        private double millisEach(long nanos) {
            return answered == 0 ? 0 : nanos / 1e6 / answered;
        }
    }

    private RateText() {}

    /**
     * The rates of all models together, and if {@code eachModel} those of each that did anything, from the counters at
     * the start and the end, {@code seconds} apart; begins with the {@code time} of day, empty for none.
     */
    public static String of(
            List<ModelStatistics> before,
            List<ModelStatistics> after,
            double seconds,
            boolean eachModel,
            Optional<LocalTime> time) {
        Map<String, Work> earlier = new HashMap<>();
        before.forEach(model -> earlier.put(name(model), Work.of(model)));
        Work all = Work.NONE;
        StringBuilder models = new StringBuilder();
        for (ModelStatistics model : after) {
            Work work = Work.of(model).since(earlier.getOrDefault(name(model), Work.NONE));
            all = all.plus(work);
            if (eachModel && !work.isNone()) {
                models.append(work.told(name(model), seconds));
            }
        }
        String stamp =
                time.map(present -> "Timestamp: " + TIME.format(present) + "\n").orElse("");
        return stamp + all.told("all models", seconds) + models;
    }

    private static String name(ModelStatistics model) {
        return model.name() + "/" + model.version();
    }
}
