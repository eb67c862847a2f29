// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The commands of a page.
 *
 * @param file the page, relative to the project's folder
 * @param blocks its blocks of shell commands, from top to bottom
 */
record DocumentedPage(Path file, List<Block> blocks) {
    private static final Pattern SHELL = Pattern.compile("(?ms)^```sh\\n(.*?)^```\\n(?:\\s*^```\\n(.*?)^```)?");
    private static final String SERVE = "./gatun serve ";

    /**
     * A block of shell commands.
     *
     * @param text the commands
     * @param output what the page shows as their output, directly behind them; empty where it shows none
     */
    record Block(String text, Optional<String> output) {
        /** The first line, which tells blocks apart. */
        String firstLine() {
            return text.lines().findFirst().orElse("");
        }

        /** The flags of the server that the block starts; none where it starts none. */
        List<String> serverFlags() {
            return text.lines()
                    .filter(line -> line.startsWith(SERVE))
                    .flatMap(line -> List.of(line.substring(SERVE.length()).split(" ")).stream())
                    .toList();
        }

        /** The commands without those that start servers. */
        String script() {
            return String.join(
                    "\n", text.lines().filter(line -> !line.startsWith(SERVE)).toList());
        }
    }

    /** Reads {@code file} in the project's folder {@code root}. */
    static DocumentedPage read(Path root, Path file) {
        List<Block> blocks = new ArrayList<>();
        try {
            Matcher matcher = SHELL.matcher(Files.readString(root.resolve(file)));
            while (matcher.find()) {
                blocks.add(new Block(matcher.group(1), Optional.ofNullable(matcher.group(2))));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new DocumentedPage(file, List.copyOf(blocks));
    }
}
