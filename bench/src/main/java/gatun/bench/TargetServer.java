// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.bench.endpoint.LoadTransport;
import gatun.client.ServerAddress;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** A server, and the transport of its requests. An empty {@code url} is this process. */
record TargetServer(String url, LoadTransport transport) {
    static final String DEFAULT_URL = "http://localhost:8000";

    /** Every transport over every address that has it. Throws {@link IllegalArgumentException} for wrong flags. */
    static List<TargetServer> of(TargetFlags flags) {
        List<String> urls = flags.urls.isEmpty() && flags.embedded.isEmpty() ? List.of(DEFAULT_URL) : flags.urls;
        Set<String> used = new LinkedHashSet<>();
        List<TargetServer> endpoints = new ArrayList<>();
        for (String url : urls) {
            ServerAddress address = ServerAddress.parse(url);
            for (String name : names(flags, address)) {
                Optional<LoadTransport> transport = LoadTransport.parse(name, address.protocol());
                if (transport.isPresent()) {
                    used.add(name);
                    endpoints.add(new TargetServer(url, transport.get()));
                }
            }
        }
        for (String name : flags.transports) {
            if (!urls.isEmpty() && !used.contains(name)) {
                throw new IllegalArgumentException("--transport=" + name + ": " + String.join(", ", urls)
                        + " cannot do it: json wants an address of HTTP, stream one of gRPC,"
                        + " lane one like lane:/PATH");
            }
        }
        if (flags.embedded.isPresent()) {
            endpoints.add(
                    new TargetServer("", new LoadTransport(LoadTransport.Wire.EMBEDDED, LoadTransport.Placement.SENT)));
        }
        return endpoints;
    }

    private static List<String> names(TargetFlags flags, ServerAddress address) {
        if (!flags.transports.isEmpty()) {
            return flags.transports;
        }
        if (address.protocol() == ServerAddress.Protocol.LANE) {
            return List.of("lane");
        }
        // TensorFlow Serving has nothing else over HTTP.
        boolean json =
                flags.protocol == TargetFlags.Protocol.TENSORFLOW && address.protocol() == ServerAddress.Protocol.HTTP;
        return List.of(json ? "json" : "binary");
    }

    String name() {
        return url.isEmpty() ? "in this process" : url;
    }

    String text() {
        return transport.wire() == LoadTransport.Wire.EMBEDDED ? "embedded" : transport.text(ServerAddress.parse(url));
    }
}
