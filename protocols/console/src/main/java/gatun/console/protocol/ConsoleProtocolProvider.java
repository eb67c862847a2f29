// SPDX-License-Identifier: Apache-2.0
package gatun.console.protocol;

import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Audience;
import gatun.protocol.Endpoint.Kind;
import gatun.protocol.Endpoint.Transport;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.Section;
import gatun.protocol.flags.FlagType;
import java.util.List;
import java.util.Optional;

/** Has the server show the console, on the ports of HTTP or on one of its own. */
public final class ConsoleProtocolProvider implements ProtocolProvider {
    private static final int PRECEDENCE = -100;

    /** The console, and HTTP requests beside it. */
    private static final Kind PORT =
            new Kind("console", "Console", Transport.HTTP, "/console", Audience.OPERATORS, true, true);

    private final FlagGroup flags = new FlagGroup();
    private final Flag<Boolean> enabled = flags.yesOrNo(
            "--console",
            true,
            "Whether the HTTP port shows a page about the server at /console, and at / to browsers. Access to what"
                    + " it shows is the group console.");
    private final Flag<Optional<Integer>> port = flags.optional(
            "--console-port",
            FlagType.PORT,
            "A port for the console, with HTTP's other requests, so that it is not on --http-port; 0 for any free"
                    + " port.");
    private final Flag<Optional<String>> address = flags.optional(
            "--console-address",
            FlagType.TEXT.labelled("ADDRESS"),
            "The address of --console-port (default: that of --http-address).");

    /** For {@link java.util.ServiceLoader}. */
    public ConsoleProtocolProvider() {}

    @Override
    public int precedence() {
        return PRECEDENCE;
    }

    @Override
    public List<Section> flags() {
        return List.of(new Section("Console", "Metrics", flags));
    }

    @Override
    public void embed() {
        enabled.setDefault(false);
    }

    @Override
    public List<Endpoint> ports(CommonAddresses common) {
        return port
                .value()
                .filter(number -> enabled.value())
                .map(number -> Endpoint.onPort(PORT, address.value().orElse(common.http()), number))
                .stream()
                .toList();
    }

    @Override
    public Optional<Protocol> create(ProtocolContext context) {
        boolean onOwnPort = port.value().isPresent();
        return enabled.value() && (onOwnPort || context.overHttp())
                ? Optional.of(
                        new ConsoleProtocol(context.server(), context.surroundings(), context.settings(), !onOwnPort))
                : Optional.empty();
    }
}
