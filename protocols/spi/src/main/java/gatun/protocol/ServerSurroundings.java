// SPDX-License-Identifier: Apache-2.0
package gatun.protocol;

import java.time.Instant;
import java.util.List;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;

/** What is around a server that operators are told of. Safe for any thread; asked once a second at most. */
public interface ServerSurroundings {
    /**
     * How many connections of clients are open, by protocol, and how many were refused so far because there were too many.
     * Those that only look at the server are not counted.
     */
    record Connections(int http, int grpc, long refused) {}

    /**
     * A connection that is open.
     *
     * @param protocol {@code http} or {@code grpc}
     * @param tls whether TLS is spoken on it
     * @param sinceMillis when it came, in milliseconds since 1970
     */
    record Connection(String protocol, String peer, boolean tls, long sinceMillis, Traffic traffic) {}

    /** What has come and gone over a connection, the bytes of TLS included; requests in flight are not answered yet. */
    record Traffic(long requests, int inFlight, long bytesIn, long bytesOut) {}

    /** Some of the connections that are open, no more than were asked for, of {@code total}. */
    record ConnectionList(List<Connection> connections, int total) {}

    /**
     * A lane that is open.
     *
     * @param number of the lane, which no other has
     * @param owner the process of its client; empty where it is not known
     * @param slots how many requests may be under way
     */
    record Lane(long number, OptionalLong owner, long byteSize, int slots, int inFlight) {}

    /**
     * Files of models that are fetched together.
     *
     * @param models their names, as far as they are known
     * @param bytes how many bytes have come
     * @param beganMillis when the first was asked for, in milliseconds since 1970
     */
    record Fetch(Set<String> models, long bytes, long totalBytes, long beganMillis) {
        /** Keeps a copy. */
        public Fetch {
            models = Set.copyOf(models);
        }
    }

    /** The file of a certificate that the server shows its clients, and when it ends. */
    record Certificate(String file, Instant end) {}

    /** The port for requests over HTTP; empty where there is none. */
    OptionalInt httpPort();

    /** The port for calls over gRPC; empty where there is none. */
    OptionalInt grpcPort();

    /** The numbers of connections. */
    Connections connections();

    /** At most {@code limit} of the connections of clients. */
    ConnectionList connections(int limit);

    /** The lanes. */
    List<Lane> lanes();

    /** What is fetched from object stores now. */
    List<Fetch> fetches();

    /** The certificates, as they are now. */
    List<Certificate> certificates();
}
