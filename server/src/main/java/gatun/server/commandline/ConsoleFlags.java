// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.server.settings.ConsoleSettings;
import java.util.Optional;

/** The page about the server. Read once. */
final class ConsoleFlags extends OverlayFlags<ConsoleSettings> {
    private final Flag<Boolean> enabled = yesOrNo(
            "--console",
            standard.enabled(),
            "Whether the HTTP port shows a page about the server at /console, and at / to browsers. Access to what"
                    + " it shows is the group console.");
    private final Flag<Optional<Integer>> port = optional(
            "--console-port",
            FlagType.PORT,
            "A port for the console, with HTTP's other requests, so that it is not on --http-port; 0 for any free"
                    + " port.");
    private final Flag<Optional<String>> address = optional(
            "--console-address",
            FlagType.TEXT.labelled("ADDRESS"),
            "The address of --console-port (default: that of --http-address).");

    ConsoleFlags(ConsoleSettings standard) {
        super(standard);
    }

    ConsoleSettings settings() {
        return new ConsoleSettings(enabled.value(), address.value(), port.value());
    }
}
