// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import java.util.List;

/**
 * The metadata of a server, as it tells it.
 *
 * @param name its own name
 * @param version its version
 * @param extensions the extensions of the protocol that it speaks
 */
public record ServerMetadata(String name, String version, List<String> extensions) {
    /** Keeps a copy of the list. */
    public ServerMetadata {
        extensions = List.copyOf(extensions);
    }
}
