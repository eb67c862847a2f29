// SPDX-License-Identifier: Apache-2.0
package gatun.protocol.testing;

import gatun.http.HttpSettings;
import gatun.http.HttpTimeouts;
import gatun.protocol.ClientRegions;
import gatun.protocol.ProtocolSettings;
import gatun.runtime.access.HeaderForwarding.HeaderRules;
import gatun.runtime.access.HostNames;
import java.util.Set;

/**
 * How listeners under test are set up.
 *
 * @param protocol the settings that all protocols share
 * @param http how HTTP is spoken
 */
public record TestServerSettings(ProtocolSettings protocol, HttpSettings http) {
    private static final long MAX_INPUT_BYTES = 1 << 20;

    /** Requests up to a mebibyte, shared memory, nothing restricted, to a server of any name. */
    public static TestServerSettings usual() {
        return new TestServerSettings(
                ProtocolSettings.standard().withMaxInputByteSize(MAX_INPUT_BYTES),
                HttpSettings.STANDARD.withHosts(HostNames.any()));
    }

    /** The same, with the same rules for headers and for metadata. */
    public TestServerSettings withHeaders(HeaderRules rules) {
        return new TestServerSettings(protocol.withHeaders(rules, rules), http);
    }

    /** The same, with another choice for shared memory. */
    public TestServerSettings withClientSharedMemory(boolean allowed) {
        return new TestServerSettings(
                protocol.withClientMemory(ClientRegions.Rules.STANDARD.withRegistration(allowed)), http);
    }

    /** The same, with health told by the status alone. */
    public TestServerSettings withoutHealthBodies() {
        return new TestServerSettings(protocol.withoutHealthBodies(), http);
    }

    /** The same, with other timeouts for slow clients. */
    public TestServerSettings withTimeouts(HttpTimeouts timeouts) {
        return new TestServerSettings(protocol, http.withTimeouts(timeouts));
    }

    /** The same, with other names of the server. */
    public TestServerSettings withHosts(HostNames hosts) {
        return new TestServerSettings(protocol, http.withHosts(hosts));
    }

    /** The same, with other pages let in. */
    public TestServerSettings withAllowedOrigins(Set<String> origins) {
        return new TestServerSettings(protocol, http.withAllowedOrigins(origins));
    }
}
