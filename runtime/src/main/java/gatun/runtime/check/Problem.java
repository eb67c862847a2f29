// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.check;

import gatun.runtime.configuration.ConfigurationText.Position;
import java.nio.file.Path;
import java.util.Optional;

/**
 * A reason why a model cannot be served.
 *
 * @param file the configuration, or the folder of the model where it is about no line of it
 * @param position the place in the file; empty where it is about none
 * @param text the failure
 * @param advice what to do or to write instead; empty where the text says it
 */
public record Problem(Path file, Optional<Position> position, String text, String advice) {
    /** The same problem with more advice. */
    Problem with(String more) {
        return new Problem(file, position, text, advice.isEmpty() ? more : advice + "\n" + more);
    }
}
