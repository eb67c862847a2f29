// SPDX-License-Identifier: Apache-2.0
package gatun.server;

import gatun.runtime.ModelStatus;
import gatun.runtime.ModelStatus.ModelState;
import gatun.server.text.TextTable;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The one table that a start prints: the models, their backends, their states, and the reasons of failures. */
final class StartTable {
    private static final List<String> TITLES = List.of("Model", "Version", "Engine", "State", "Load time");
    private static final int LOAD_TIME = 4;

    private final TextTable table;

    private StartTable(TextTable table) {
        this.table = table;
    }

    static StartTable boxed() {
        return new StartTable(TextTable.boxed());
    }

    static StartTable ascii() {
        return new StartTable(TextTable.ascii());
    }

    static StartTable standard() {
        return new StartTable(TextTable.standard());
    }

    /** The table of {@code models}, then why some cannot answer; each line ends with a newline. */
    String render(List<ModelStatus> models) {
        List<List<String>> rows = new ArrayList<>();
        for (ModelStatus model : models) {
            rows.add(List.of(
                    model.name(),
                    model.version().isEmpty() ? "-" : model.version(),
                    model.engine().isEmpty() ? "-" : model.engine(),
                    state(model.state()),
                    loadTime(model)));
        }
        StringBuilder text = new StringBuilder(table.render(TITLES, Set.of(LOAD_TIME), rows));
        for (ModelStatus model : models) {
            if (!model.reason().isEmpty()) {
                String version = model.version().isEmpty() ? "" : " version " + model.version();
                text.append(model.name()).append(version).append(": ");
                text.append(model.reason().strip().replace("\n", "\n    ")).append('\n');
            }
        }
        return text.toString();
    }

    private static String state(ModelState state) {
        return switch (state) {
            case UNKNOWN -> "not loaded";
            case LOADING -> "loading";
            case READY -> "ready";
            case UNLOADING -> "unloading";
            case UNAVAILABLE -> "unavailable";
        };
    }

    private static String loadTime(ModelStatus model) {
        Duration time = model.loadTime();
        if (time.isZero()) {
            return "-";
        }
        long millis = Math.max(1, time.toMillis());
        return millis < 10_000 ? millis + " ms" : String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
    }
}
