// SPDX-License-Identifier: Apache-2.0
package gatun.server.check;

import com.google.protobuf.TextFormat;
import gatun.runtime.check.ModelReport;
import gatun.runtime.check.ModelReport.Problem;
import gatun.runtime.configuration.ConfigurationText.Position;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Prints problems of {@code gatun check} as compilers do: {@code FILE:LINE:COLUMN: text}, and the remedy. */
public final class CheckReport {
    private static final int INDENT = 4;

    private final PrintWriter out;
    private final boolean configurations;

    /** {@code configurations} says whether completed configurations are shown. */
    public CheckReport(PrintWriter out, boolean configurations) {
        this.out = out;
        this.configurations = configurations;
    }

    /** Shows one model. */
    public void model(ModelReport model) {
        if (model.isGood()) {
            out.println(model.model() + ": good, version" + (model.versions().size() == 1 ? " " : "s ")
                    + String.join(", ", model.versions()));
        } else {
            int count = model.problems().size();
            out.println(model.model() + ": " + count + (count == 1 ? " problem" : " problems"));
            model.problems().forEach(this::problem);
        }
        if (!configurations) {
            model.unbatched().ifPresent(reason -> out.println(" ".repeat(INDENT) + reason));
        } else {
            model.choices().forEach(choice -> out.println(" ".repeat(INDENT) + choice));
            model.memory().forEach(tensor -> out.println(" ".repeat(INDENT) + tensor));
            model.config().ifPresent(config -> {
                out.println(" ".repeat(INDENT) + "its configuration as completed:");
                out.print(TextFormat.printer().printToString(config).indent(2 * INDENT));
            });
        }
        out.flush();
    }

    void end(int models, long bad) {
        out.println();
        if (models == 0) {
            out.println("No models: the folder holds no folder that could be one.");
        } else if (bad == 0) {
            out.println(models == 1 ? "The model would be served." : "All " + models + " models would be served.");
        } else {
            out.println(bad + " of " + models + (models == 1 ? " model" : " models") + " would not be served.");
        }
    }

    private void problem(Problem problem) {
        String place = problem.position()
                .map(position -> ":" + position.line() + ":" + position.column())
                .orElse("");
        out.println("  " + problem.file() + place + ": " + problem.text().strip());
        problem.position().ifPresent(position -> line(problem.file(), position));
        if (!problem.advice().isEmpty()) {
            out.print(problem.advice().indent(INDENT));
        }
    }

    private void line(Path file, Position position) {
        List<String> lines;
        try {
            lines = Files.readAllLines(file);
        } catch (IOException e) {
            return; // The file was readable before; the problem is shown without its line.
        }
        if (position.line() <= lines.size()) {
            String line = lines.get(position.line() - 1).replace('\t', ' ');
            out.println(" ".repeat(INDENT) + "| " + line);
            out.println(" ".repeat(INDENT) + "| " + " ".repeat(Math.min(line.length(), position.column() - 1)) + "^");
        }
    }
}
