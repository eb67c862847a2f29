// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.ServerProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A page of {@code docs/reference} whose tables are made from the code, while its prose is written by hand. Immutable. */
record ReferencePage(Path file, List<String> lines) {
    /** The page of that name as it is in the source tree. */
    static ReferencePage read(String name) throws IOException {
        Path file = ServerProcess.root().resolve("docs/reference").resolve(name);
        return new ReferencePage(file, Files.readAllLines(file));
    }

    /** The page with {@code rows} as the first table below the heading, which must have one. */
    ReferencePage withTable(String heading, List<String> rows) {
        int from = lines.indexOf("## " + heading);
        assertThat(from).as("the line of '## %s' in %s", heading, file).isNotNegative();
        while (!isRow(from)) {
            from++;
            assertThat(from < lines.size() && !lines.get(from).startsWith("## "))
                    .as("whether '%s' in %s has a table", heading, file)
                    .isTrue();
        }
        int to = from;
        while (to < lines.size() && isRow(to)) {
            to++;
        }
        List<String> made = new ArrayList<>(lines.subList(0, from));
        made.addAll(rows);
        made.addAll(lines.subList(to, lines.size()));
        return new ReferencePage(file, made);
    }

    private boolean isRow(int line) {
        return lines.get(line).startsWith("|");
    }

    /** The lines below a heading, up to the next. */
    List<String> section(String heading) {
        int from = lines.indexOf("## " + heading);
        assertThat(from).as("the line of '## %s' in %s", heading, file).isNotNegative();
        int to = from + 1;
        while (to < lines.size() && !lines.get(to).startsWith("## ")) {
            to++;
        }
        return lines.subList(from + 1, to);
    }

    /** Compares this page with the file; a failure says which command updates the file. */
    void requireCommitted() throws IOException {
        Path folder = Files.createDirectories(Path.of(System.getProperty("gatun.it.folder")));
        Path made = Files.writeString(folder.resolve(file.getFileName()), String.join("\n", lines) + "\n");
        assertThat(Files.readString(made))
                .as("%s is not what the code makes; update it by: cp %s %s", file, made, file)
                .isEqualTo(Files.readString(file));
    }
}
