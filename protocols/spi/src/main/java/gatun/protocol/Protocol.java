// SPDX-License-Identifier: Apache-2.0
package gatun.protocol;

import gatun.grpc.GrpcService;
import gatun.http.connection.Routes;
import gatun.http.routes.RouteTable;
import gatun.protocol.ServerSurroundings.Lane;
import java.util.List;

/** A protocol in front of one server. Safe for any thread; does not own the server. */
public interface Protocol extends AutoCloseable {
    /** Its paths over HTTP. */
    RouteTable table();

    /** Answers its requests over HTTP: by {@link #table}, where nothing has to be done before. */
    default Routes http() {
        return table();
    }

    /** Its services over gRPC; none unless it has some. */
    default List<GrpcService> grpc() {
        return List.of();
    }

    /** Whether its paths are on the ports of HTTP too, and not only on its own. */
    default boolean shared() {
        return true;
    }

    /** Prepares for requests on its own ports, which listen next, with loaded models. Throws if it cannot start. */
    default void beforeOwnPorts() {}

    /** The lanes that clients have opened. */
    default List<Lane> lanes() {
        return List.of();
    }

    /** Ends, soon, what would last as long as its client, and begins no more of it; everything else is still served. */
    default void drain() {}

    /** Ends what the listeners do not end. They stop afterwards. */
    @Override
    default void close() {}
}
