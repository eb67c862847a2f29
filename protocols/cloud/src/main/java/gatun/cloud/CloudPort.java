// SPDX-License-Identifier: Apache-2.0
package gatun.cloud;

import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Audience;
import gatun.protocol.Endpoint.Kind;
import gatun.protocol.Endpoint.Transport;
import gatun.protocol.ProtocolProvider.CommonAddresses;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagType;
import java.util.List;
import java.util.Optional;

/** The port where a cloud's platform sends requests, and the flags that both clouds have for it. */
public final class CloudPort {
    /** The title of the flags in the help. */
    public static final String SECTION = "Vertex AI and SageMaker";

    /** The section before it. */
    public static final String AFTER = "Console";

    private static final int PORT = 8080;

    private final Kind kind;
    private final Flag<Boolean> enabled;
    private final Flag<Optional<String>> address;
    private final Flag<Integer> port;

    /**
     * Adds flags whose names begin with {@code key}. The texts name the cloud, and other sources of the first flag and
     * of the port, empty for none.
     */
    public CloudPort(FlagGroup flags, String key, String title, String sources, String portSources) {
        kind = new Kind(key, title, Transport.HTTP, "", Audience.PLATFORM, false, false);
        enabled = flags.yesOrNo("--allow-" + key, false, "Whether " + title + " requests are taken." + sources);
        address = flags.optional(
                "--" + key + "-address",
                FlagType.TEXT.labelled("ADDRESS"),
                "The address to listen on (default: that of --http-address).");
        port = flags.flag(
                "--" + key + "-port", FlagType.PORT, PORT, "The port to listen on, 0 for any free port." + portSources);
    }

    /** Whether the cloud's requests are taken. */
    public boolean enabled() {
        return enabled.value();
    }

    /** Whether {@code endpoint} is this port. */
    public boolean is(Endpoint endpoint) {
        return endpoint.kind().equals(kind);
    }

    /** The port; none where the cloud's requests are not taken. */
    public List<Endpoint> endpoints(CommonAddresses common) {
        return enabled()
                ? List.of(Endpoint.onPort(kind, address.value().orElse(common.http()), port.value()))
                : List.of();
    }
}
