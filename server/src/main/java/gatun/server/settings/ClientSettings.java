// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.listener.ConnectionLimits;
import gatun.runtime.limits.LimitSettings;

/**
 * The limits and rights of clients.
 *
 * @param access who may ask for what
 * @param limits how much they may ask for
 * @param connections how many connections they may have open
 */
public record ClientSettings(AccessSettings access, LimitSettings limits, ConnectionLimits connections) {
    /** Everything is open to everybody, as far as the standard limits let them. */
    public static ClientSettings standard() {
        return new ClientSettings(AccessSettings.OPEN, LimitSettings.standard(), ConnectionLimits.STANDARD);
    }
}
