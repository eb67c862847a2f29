// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import gatun.listener.TlsFiles;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagType;
import gatun.server.settings.ListenerSettings.BindSettings;
import java.nio.file.Path;
import java.util.Optional;

/** Where a protocol is spoken: the flags that HTTP and gRPC have in common. */
final class BindFlags {
    private final Flag<Boolean> enabled;
    private final Flag<String> address;
    private final Flag<Integer> port;
    private final Flag<Optional<Path>> unixSocket;

    /** Adds {@code --<protocol>-...} flags. {@code otherSocket} is an alias of the socket flag; empty for none. */
    BindFlags(FlagGroup group, String protocol, String title, String otherSocket, BindSettings standard) {
        enabled = group.yesOrNo("--allow-" + protocol, standard.enabled(), "Whether " + title + " requests are taken.");
        address = group.flag(
                "--" + protocol + "-address",
                FlagType.TEXT.labelled("ADDRESS"),
                standard.address(),
                "The address to listen on, 0.0.0.0 for all.");
        port = group.flag(
                "--" + protocol + "-port",
                FlagType.PORT,
                standard.port(),
                "The port to listen on, 0 for any free port.");
        String socket = "--" + protocol + "-unix-socket";
        unixSocket = otherSocket.isEmpty()
                ? group.optional(socket, FlagType.PATH.labelled("PATH"), "Also listen on a Unix socket at PATH.")
                : group.optional(
                        socket + " " + otherSocket,
                        FlagType.PATH.labelled("PATH"),
                        "Also listen on a Unix socket at PATH. Also called " + otherSocket + ".");
    }

    BindSettings settings(Optional<TlsFiles> tls) {
        return new BindSettings(enabled.value(), address.value(), port.value(), unixSocket.value(), tls);
    }
}
