// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import gatun.runtime.access.HeaderRules;
import java.util.Objects;

/**
 * The rules for access, and for the request headers that are forwarded to models.
 *
 * @param http the rules for HTTP requests
 * @param grpc the rules for gRPC calls
 */
public record AccessSettings(HeaderRules http, HeaderRules grpc) {
    /** Everything is open to everybody, and models learn of no header. */
    public static final AccessSettings OPEN = new AccessSettings(HeaderRules.none(), HeaderRules.none());

    /** Checks that nothing is missing. */
    public AccessSettings {
        Objects.requireNonNull(http, "http");
        Objects.requireNonNull(grpc, "grpc");
    }
}
