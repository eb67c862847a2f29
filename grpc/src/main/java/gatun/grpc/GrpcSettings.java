// SPDX-License-Identifier: Apache-2.0
package gatun.grpc;

import gatun.grpc.connection.ConnectionSettings.KeepaliveSettings;
import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.HostNames;
import java.util.Set;

/**
 * How gRPC is spoken, whatever the protocol. A request message over {@code maxMessageSize} bytes, decompressed too, is
 * refused with RESOURCE_EXHAUSTED; a call beyond {@code maxConcurrentCalls} of a connection, so that clients may repeat
 * it. {@code hosts} are this server's names for clients on its machine. {@code healthOfAnyName}: the health service's
 * Check answers for the server whatever name it is asked for.
 */
public record GrpcSettings(
        int maxMessageSize,
        int maxConcurrentCalls,
        KeepaliveSettings keepalive,
        ApiAccess access,
        HostNames hosts,
        boolean healthOfAnyName) {
    private static final int DEFAULT_MAX_CALLS = 1000;

    /** Messages up to 2 GiB - 1, and health of any name, as in Triton; 1000 calls at a time, by the machine's names. */
    public static GrpcSettings standard() {
        return new GrpcSettings(
                Integer.MAX_VALUE,
                DEFAULT_MAX_CALLS,
                KeepaliveSettings.standard(),
                ApiAccess.open(),
                new HostNames(Set.of()),
                true);
    }

    /** The same, with connections that are kept alive otherwise. */
    public GrpcSettings withKeepalive(KeepaliveSettings settings) {
        return new GrpcSettings(maxMessageSize, maxConcurrentCalls, settings, access, hosts, healthOfAnyName);
    }

    /** The same, with calls restricted otherwise. */
    public GrpcSettings withAccess(ApiAccess other) {
        return new GrpcSettings(maxMessageSize, maxConcurrentCalls, keepalive, other, hosts, healthOfAnyName);
    }

    /** The same, with other names of this server. */
    public GrpcSettings withHosts(HostNames names) {
        return new GrpcSettings(maxMessageSize, maxConcurrentCalls, keepalive, access, names, healthOfAnyName);
    }

    /** The same, where the health service knows only the names of services, or answers for any name. */
    public GrpcSettings withHealthOfAnyName(boolean any) {
        return new GrpcSettings(maxMessageSize, maxConcurrentCalls, keepalive, access, hosts, any);
    }
}
