// SPDX-License-Identifier: Apache-2.0
package gatun.memory.metrics;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.function.Function;
import java.util.function.Predicate;

/** The subjects of some families with their labels, in the order of the labels. Immutable. */
public final class MetricRows<T> implements Iterable<MetricRows.Row<T>> {
    private final List<Row<T>> rows;

    /** One subject and the labels of its lines. */
    public record Row<T>(Labels labels, T subject) {}

    private MetricRows(List<Row<T>> rows) {
        this.rows = rows;
    }

    /** MetricRows about {@code subjects}, in the order of their labels. */
    public static <T> MetricRows<T> of(Collection<T> subjects, Function<T, Labels> labels) {
        List<Row<T>> rows = new ArrayList<>(subjects.size());
        for (T subject : subjects) {
            rows.add(new Row<>(labels.apply(subject), subject));
        }
        return of(rows);
    }

    /** {@code rows}, which it takes over, in the order of their labels. */
    public static <T> MetricRows<T> of(List<Row<T>> rows) {
        rows.sort(Comparator.comparing(Row::labels));
        return new MetricRows<>(rows);
    }

    /** One row without labels. */
    public static <T> MetricRows<T> single(T subject) {
        return new MetricRows<>(List.of(new Row<>(Labels.NONE, subject)));
    }

    /** Those rows alone whose subjects {@code wanted} is true of. */
    public MetricRows<T> where(Predicate<T> wanted) {
        return new MetricRows<>(
                rows.stream().filter(row -> wanted.test(row.subject())).toList());
    }

    @Override
    public Iterator<Row<T>> iterator() {
        return Collections.unmodifiableList(rows).iterator();
    }
}
