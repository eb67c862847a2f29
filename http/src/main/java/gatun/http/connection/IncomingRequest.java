// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiConsumer;

/** A request's head, and where its body ends. For the connection's thread, until the request is answered. */
interface IncomingRequest {
    Method method();

    /** The path as sent, without the query; of an absolute URI, as proxies receive it, the part after the server. */
    String path();

    /** The query as it was sent, without the question mark; empty when there is none. */
    String query();

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

    /** A request with a plain head, read in place; reused for the next. For the connection's thread. */
    static final class FastPathRequest implements IncomingRequest {
        private final RequestHeadParser head;
        private String lastPath = "";
        private boolean bodyConsumed;

        FastPathRequest(RequestHeadParser head) {
            this.head = head;
        }

        void begin() {
            bodyConsumed = head.announcedByteSize() == 0;
        }

        @Override
        public Method method() {
            return head.method();
        }

        /** Mostly that of the request before, which is not made again then. */
        @Override
        public String path() {
            String path = head.path(lastPath);
            if (path.length() <= LastRoute.MOST_CHARS) {
                lastPath = path;
            }
            return path;
        }

        @Override
        public String query() {
            // A path with a query is not plain.
            return "";
        }

        @Override
        public Optional<String> first(HeaderName name) {
            int header = head.indexOf(name.lowerCase());
            return header < 0 ? Optional.empty() : Optional.of(head.value(header));
        }

        @Override
        public boolean isFor(String lowerCase) {
            return head.isFor(lowerCase);
        }

        @Override
        public boolean has(HeaderName name) {
            return head.indexOf(name.lowerCase()) >= 0;
        }

        @Override
        public void eachHeader(BiConsumer<String, String> reader) {
            for (int header = 0; header < head.headerCount(); header++) {
                String name = head.name(header);
                if (head.indexOf(name.toLowerCase(Locale.ROOT)) == header) {
                    reader.accept(name, head.value(header));
                }
            }
        }

        @Override
        public boolean closes() {
            return false;
        }

        @Override
        public long announcedByteSize() {
            return head.announcedByteSize();
        }

        @Override
        public void beginBody() {
            // The client sends it without being asked.
        }

        @Override
        public void endBody() {
            bodyConsumed = true;
        }

        @Override
        public boolean bodyConsumed() {
            return bodyConsumed;
        }
    }
}
