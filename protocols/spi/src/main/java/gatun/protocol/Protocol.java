// SPDX-License-Identifier: Apache-2.0
package gatun.protocol;

import gatun.grpc.GrpcService;
import gatun.http.connection.Routes;
import gatun.http.routes.RouteTable;
import java.util.List;

/** A protocol in front of one server. Safe for any thread; does not own the server. */
public interface Protocol {
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
}
