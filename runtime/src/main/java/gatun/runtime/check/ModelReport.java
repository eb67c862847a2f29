// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.check;

import gatun.runtime.ModelIdentifier;
import gatun.runtime.configuration.ConfigurationText.Position;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * The result of the check of one model.
 *
 * @param model the model; with the namespace that a server would give it
 * @param versions the versions that would be served, in decimal
 * @param config the configuration as completed and filled with defaults; empty when the model cannot be served
 * @param choices what the engine has chosen that the configuration leaves open, and why, a line each; empty when the
 *     model cannot be served
 * @param memory for each tensor where runs touch it if it lies in a client's memory, a line each; empty when the model
 *     cannot be served
 * @param unbatched why its requests share no runs though nobody has forbidden it; among {@code choices}, too
 * @param problems why it cannot be served, or not all of it; empty when all is well
 */
public record ModelReport(
        ModelIdentifier model,
        List<String> versions,
        Optional<ModelConfig> config,
        List<String> choices,
        List<String> memory,
        Optional<String> unbatched,
        List<Problem> problems) {
    /** Keeps copies of the lists. */
    public ModelReport {
        versions = List.copyOf(versions);
        choices = List.copyOf(choices);
        memory = List.copyOf(memory);
        problems = List.copyOf(problems);
    }

    /** Whether the model would be served as it is. */
    public boolean isGood() {
        return problems.isEmpty();
    }

    /**
     * A reason why a model cannot be served.
     *
     * @param file the configuration, or the folder of the model where it is about no line of it
     * @param position the place in the file; empty where it is about none
     * @param advice what to do or to write instead; empty where the text says it
     */
    public record Problem(Path file, Optional<Position> position, String text, String advice) {
        /** The same problem with more advice. */
        Problem with(String more) {
            return new Problem(file, position, text, advice.isEmpty() ? more : advice + "\n" + more);
        }
    }
}
