// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import java.util.Optional;

/**
 * The settings of the console.
 *
 * @param enabled whether it is at all
 * @param address the address of its own port; empty for that of HTTP
 * @param port a port of its own, which speaks all of HTTP's protocols, and 0 for any free one; empty for HTTP's ports
 */
public record ConsoleSettings(boolean enabled, Optional<String> address, Optional<Integer> port) {
    /** On HTTP's ports. */
    public static final ConsoleSettings STANDARD = new ConsoleSettings(true, Optional.empty(), Optional.empty());

    /** None. */
    public static final ConsoleSettings NONE = new ConsoleSettings(false, Optional.empty(), Optional.empty());

    /** Whether it is on the ports of HTTP. */
    public boolean onHttp() {
        return enabled && port.isEmpty();
    }
}
