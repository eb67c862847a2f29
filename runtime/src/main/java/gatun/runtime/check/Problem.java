// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.check;

import java.nio.file.Path;
import java.util.Optional;

/**
 * Something that is wrong with a model.
 *
 * @param file where: the configuration's file, or the folder that lacks something
 * @param position the place in the file; empty where it is about none
 * @param text what is wrong
 * @param advice what to do or to write instead; empty where the text says it
 */
public record Problem(Path file, Optional<Position> position, String text, String advice) {
    /**
     * A place in a text.
     *
     * @param line counted from 1
     * @param column counted from 1
     */
    public record Position(int line, int column) {}
}
