// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.configuration.ConfigurationText.Position;
import java.util.List;

/** A configuration that cannot be read. The message is that of the first mistake. */
public final class ConfigurationSyntaxException extends GatunException {
    private static final long serialVersionUID = 1;

    /**
     * A mistake.
     *
     * @param position where it is
     * @param text what is wrong
     * @param advice what to write instead; empty where the text says it
     */
    public record Mistake(Position position, String text, String advice) {}

    private final transient List<Mistake> mistakes;

    /** @param mistakes at least one */
    ConfigurationSyntaxException(String fileName, List<Mistake> mistakes) {
        super(ErrorCode.INVALID_ARGUMENT, fileName + ":" + message(mistakes.getFirst()));
        this.mistakes = List.copyOf(mistakes);
    }

    private static String message(Mistake mistake) {
        return mistake.position().line() + ":" + mistake.position().column() + ": " + mistake.text();
    }

    /** All mistakes that were found, in the order of the file. */
    public List<Mistake> mistakes() {
        return mistakes;
    }
}
