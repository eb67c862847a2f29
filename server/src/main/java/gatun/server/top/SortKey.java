// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import java.util.Comparator;

/** What lines are sorted by. */
enum SortKey {
    NAME("name"),
    RATE("requests"),
    TIME("time"),
    FAILURES("failures");

    private final String title;

    SortKey(String title) {
        this.title = title;
    }

    /** Its name for people. */
    String title() {
        return title;
    }

    /** The order of lines; the server's where it says nothing. */
    Comparator<ModelLine> order() {
        return switch (this) {
            case NAME -> Comparator.comparing(line -> line.model().key().model());
            case RATE -> Comparator.comparingDouble(ModelLine::rate).reversed();
            case TIME ->
                Comparator.comparingDouble(
                                (ModelLine line) -> line.times().mean().orElse(0))
                        .reversed();
            case FAILURES -> Comparator.comparingDouble(ModelLine::failureRate).reversed();
        };
    }

    /** The one after it, round and round. */
    SortKey next() {
        return switch (this) {
            case NAME -> RATE;
            case RATE -> TIME;
            case TIME -> FAILURES;
            case FAILURES -> NAME;
        };
    }
}
