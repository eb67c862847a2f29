// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline.shell;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import picocli.CommandLine.Model.ArgSpec;

/** What a value may be. */
sealed interface ShellValues {
    /** One of a few words. */
    record Words(List<String> words) implements ShellValues {}

    /** The name of a file or a folder. */
    record Files() implements ShellValues {}

    /** Whatever the user types. */
    record Text() implements ShellValues {}

    Set<String> FILE_LABELS = Set.of("FILE", "DIR", "PATH");

    static ShellValues of(ArgSpec argument) {
        Iterable<String> candidates = argument.completionCandidates();
        if (candidates != null) {
            List<String> words = new ArrayList<>();
            candidates.forEach(words::add);
            words.sort(null);
            return new Words(words);
        }
        return FILE_LABELS.contains(argument.paramLabel()) ? new Files() : new Text();
    }
}
