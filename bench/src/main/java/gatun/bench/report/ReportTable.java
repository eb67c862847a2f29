// SPDX-License-Identifier: Apache-2.0
package gatun.bench.report;

import java.util.ArrayList;
import java.util.List;

/** Columns as wide as needed, the first ones to the left, others to the right. Not thread-safe. */
final class ReportTable {
    private static final String GAP = "  ";

    private final int leftColumns;
    private final List<List<String>> lines = new ArrayList<>();

    ReportTable(int leftColumns, List<String> heads) {
        this.leftColumns = leftColumns;
        lines.add(heads);
    }

    void add(List<String> cells) {
        lines.add(List.copyOf(cells));
    }

    String text() {
        int[] widths = new int[lines.getFirst().size()];
        for (List<String> line : lines) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], line.get(i).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> line : lines) {
            StringBuilder row = new StringBuilder();
            for (int i = 0; i < widths.length; i++) {
                String blanks = " ".repeat(widths[i] - line.get(i).length());
                row.append(i == 0 ? "" : GAP);
                row.append(i < leftColumns ? line.get(i) + blanks : blanks + line.get(i));
            }
            text.append(row.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
