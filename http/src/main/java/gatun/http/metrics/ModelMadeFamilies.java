// SPDX-License-Identifier: Apache-2.0
package gatun.http.metrics;

import gatun.runtime.metrics.MetricFamily;
import gatun.runtime.metrics.MetricFamily.MetricValue;

/** Families of metrics that models and backends have made themselves. */
final class ModelMadeFamilies {
    private ModelMadeFamilies() {}

    static void write(MetricFamily made, PageWriter page) {
        page.begin(new Family(
                made.name(),
                switch (made.kind()) {
                    case COUNTER -> Family.Kind.COUNTER;
                    case GAUGE -> Family.Kind.GAUGE;
                    case HISTOGRAM -> Family.Kind.HISTOGRAM;
                },
                made.description()));
        for (Rows.Row<MetricValue> row : Rows.of(made.values(), value -> Labels.of(value.labels()))) {
            MetricValue value = row.subject();
            switch (made.kind()) {
                case COUNTER, GAUGE -> page.value(row.labels(), value.value());
                case HISTOGRAM -> page.histogram(row.labels(), value.bounds(), upTo(value), value.value());
            }
        }
    }

    /** The observations in each bucket and all below. */
    private static long[] upTo(MetricValue value) {
        long[] counts = new long[value.counts().size()];
        long sum = 0;
        for (int i = 0; i < counts.length; i++) {
            sum += value.counts().get(i);
            counts[i] = sum;
        }
        return counts;
    }
}
