// SPDX-License-Identifier: Apache-2.0
/** The console: a page about a server for people, and the API under it. */
module gatun.console {
    requires static org.jspecify;
    requires transitive gatun.protocol;
    requires gatun.wire;
    requires com.google.protobuf;
    requires java.management;
    requires jdk.management;

    exports gatun.console.protocol;

    provides gatun.protocol.ProtocolProvider with
            gatun.console.protocol.ConsoleProtocolProvider;
}
