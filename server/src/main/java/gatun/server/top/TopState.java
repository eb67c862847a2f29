// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import gatun.server.text.SafeText;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the screen shows, and what keys change. For one thread. */
final class TopState {
    private final String url;
    private List<ModelLine> lines = List.of();
    private @Nullable Sample latest;
    private String trouble = "";
    private SortKey sort = SortKey.NAME;
    private Sample.@Nullable Key selected;
    private boolean detailed;
    private int top;

    TopState(String url) {
        this.url = url;
    }

    void tell(Sample sample) {
        Sample before = latest;
        lines = ModelLine.between(before == null ? sample : before, sample);
        latest = sample;
        trouble = "";
    }

    /** Notes that the server did not answer. {@code since} is the time of day from which on it does not. */
    void miss(String since, String why) {
        trouble = "not reachable since " + since + ": " + SafeText.of(why, 500);
    }

    void sortByNext() {
        sort = sort.next();
    }

    void toggleDetails() {
        detailed = !detailed;
    }

    /** Moves the selection down by {@code by} lines. */
    void move(int by) {
        List<ModelLine> sorted = sorted();
        if (!sorted.isEmpty()) {
            int next = Math.max(0, Math.min(sorted.size() - 1, index(sorted) + by));
            selected = sorted.get(next).model().key();
        }
    }

    private List<ModelLine> sorted() {
        List<ModelLine> sorted = new ArrayList<>(lines);
        sorted.sort(sort.order());
        return sorted;
    }

    private int index(List<ModelLine> sorted) {
        for (int i = 0; i < sorted.size(); i++) {
            if (sorted.get(i).model().key().equals(selected)) {
                return i;
            }
        }
        return 0;
    }

    /** At most as many lines as it has rows, none wider than it. {@code marked} is the selected line; -1 for none. */
    record Screen(List<String> lines, int marked) {}

    Screen screen(int width, int height) {
        List<String> text = new ArrayList<>();
        Sample sample = latest;
        if (sample == null) {
            text.add(TopPage.cut(SafeText.of(url, 200), width));
            text.add(TopPage.cut(trouble.isEmpty() ? "asking ..." : trouble, width));
            return new Screen(cut(text, height), -1);
        }
        text.addAll(TopPage.head(url, lines, sample, width));
        if (!trouble.isEmpty()) {
            text.add(TopPage.cut(trouble, width));
        }
        List<ModelLine> sorted = sorted();
        int chosen = index(sorted);
        int marked = -1;
        if (detailed && !sorted.isEmpty()) {
            text.add("");
            text.addAll(TopPage.details(sorted.get(chosen), width));
        } else {
            text.add(TopPage.titles(width));
            int room = Math.max(1, height - text.size() - 2);
            scroll(chosen, room, sorted.size());
            for (int i = top; i < Math.min(sorted.size(), top + room); i++) {
                if (i == chosen) {
                    marked = text.size();
                }
                text.add(TopPage.line(sorted.get(i), width));
            }
            text.add(
                    sorted.isEmpty()
                            ? "No models."
                            : TopPage.cut(sorted.get(chosen).model().reason(), width));
        }
        text.add(TopPage.cut(
                "q quit   arrows or j k move   s sort: " + sort.title() + "   enter "
                        + (detailed ? "all models" : "stages"),
                width));
        return new Screen(cut(text, height), marked < height ? marked : -1);
    }

    private void scroll(int chosen, int room, int count) {
        top = Math.min(top, Math.max(0, count - room));
        if (chosen < top) {
            top = chosen;
        } else if (chosen >= top + room) {
            top = chosen - room + 1;
        }
    }

    private static List<String> cut(List<String> text, int height) {
        return text.size() <= height ? text : text.subList(0, Math.max(0, height));
    }

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

        String title() {
            return title;
        }

        /** The order of lines; equal ones keep that of the server. */
        Comparator<ModelLine> order() {
            return switch (this) {
                case NAME -> Comparator.comparing(line -> line.model().key().model());
                case RATE -> Comparator.comparingDouble(ModelLine::rate).reversed();
                case TIME ->
                    Comparator.comparingDouble(
                                    (ModelLine line) -> line.times().mean().orElse(0))
                            .reversed();
                case FAILURES ->
                    Comparator.comparingDouble(ModelLine::failureRate).reversed();
            };
        }

        /** The next key, cyclically. */
        SortKey next() {
            return switch (this) {
                case NAME -> RATE;
                case RATE -> TIME;
                case TIME -> FAILURES;
                case FAILURES -> NAME;
            };
        }
    }
}
