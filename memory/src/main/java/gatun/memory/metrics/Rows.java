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

/**
 * The subjects of some families with their labels, in the order of the labels. Immutable.
 *
 * @param <T> the subject of a row
 */
public final class Rows<T> implements Iterable<Rows.Row<T>> {
    private final List<Row<T>> rows;

    /**
     * One subject and the labels of its lines.
     *
     * @param labels the labels
     * @param subject the subject of the values
     */
    public record Row<T>(Labels labels, T subject) {}

    private Rows(List<Row<T>> rows) {
        this.rows = rows;
    }

    /** Rows about {@code subjects}, in the order of their labels. */
    public static <T> Rows<T> of(Collection<T> subjects, Function<T, Labels> labels) {
        List<Row<T>> rows = new ArrayList<>(subjects.size());
        for (T subject : subjects) {
            rows.add(new Row<>(labels.apply(subject), subject));
        }
        return of(rows);
    }

    /** {@code rows}, which it takes over, in the order of their labels. */
    public static <T> Rows<T> of(List<Row<T>> rows) {
        rows.sort(Comparator.comparing(Row::labels));
        return new Rows<>(rows);
    }

    /** One row without labels. */
    public static <T> Rows<T> single(T subject) {
        return new Rows<>(List.of(new Row<>(Labels.NONE, subject)));
    }

    /** Those rows alone whose subjects {@code wanted} is true of. */
    public Rows<T> where(Predicate<T> wanted) {
        List<Row<T>> found = new ArrayList<>();
        for (Row<T> row : rows) {
            if (wanted.test(row.subject())) {
                found.add(row);
            }
        }
        return new Rows<>(found);
    }

    @Override
    public Iterator<Row<T>> iterator() {
        return Collections.unmodifiableList(rows).iterator();
    }
}
