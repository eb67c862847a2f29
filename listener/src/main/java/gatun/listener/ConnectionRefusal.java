// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import gatun.memory.tensor.Setting;

/** Why a connection is refused. */
public enum ConnectionRefusal {
    /** There are as many as the server takes. */
    SERVER,
    /** There are as many from its address as one address may have. */
    ADDRESS;

    /** The text for the client, with the setting by which the operator changes the limit. */
    String text(ConnectionLimits limits) {
        return switch (this) {
            case SERVER ->
                "the server has as many connections as " + Setting.MAX_CONNECTIONS.with(limits.most())
                        + " allows; use fewer connections, or try again later";
            case ADDRESS ->
                "your address has as many connections as "
                        + Setting.MAX_CONNECTIONS_PER_ADDRESS.with(limits.mostPerAddress())
                        + " allows; use fewer connections, or try again later";
        };
    }
}
