// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import java.util.function.ToDoubleFunction;

/**
 * A family of counters or gauges, and its value for a subject.
 *
 * @param family the head of its lines
 * @param value reads the value that a subject has now
 * @param <T> what the family tells of: a model version, a GPU
 */
record Measure<T>(Family family, ToDoubleFunction<T> value) {
    static <T> Measure<T> counter(String name, String help, ToDoubleFunction<T> value) {
        return new Measure<>(Family.counter(name, help), value);
    }

    static <T> Measure<T> gauge(String name, String help, ToDoubleFunction<T> value) {
        return new Measure<>(Family.gauge(name, help), value);
    }
}
