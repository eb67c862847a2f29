// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import java.util.Optional;
import java.util.function.BiConsumer;

/** A request's head, and where its body ends. For the connection's thread, until the request is answered. */
interface IncomingRequest {
    Method method();

    /** The path as sent, without the query; of an absolute URI, as proxies receive it, the part after the server. */
    String path();

    /** The query as it was sent, without the question mark; empty when there is none. */
    String query();

    /** The first value of a header. */
    Optional<String> first(HeaderName name);

    /** The requested host, perhaps with a port: from Host or an absolute URI; empty without, as in HTTP/1.0. */
    default Optional<String> host() {
        return first(HeaderNames.HOST);
    }

    /** Whether that host is {@code lowerCase}, which has a character at least. */
    default boolean isFor(String lowerCase) {
        return host().filter(lowerCase::equalsIgnoreCase).isPresent();
    }

    boolean has(HeaderName name);

    /** Shows {@code reader} the name, as the client wrote it, and the first value of each header. */
    void eachHeader(BiConsumer<String, String> reader);

    /** Whether the client wants the connection to end after the response. */
    boolean closes();

    /** The size of the body in bytes; {@link RequestBody#IN_CHUNKS} if unknown, 0 without a body. */
    long announcedByteSize();

    /** Says that the body is going to be read, which sends {@code 100 Continue} to a client that waits for it. */
    void beginBody();

    /** Says that the body has been read to its end, bypassing the reader of the head. */
    void endBody();

    boolean bodyConsumed();
}
