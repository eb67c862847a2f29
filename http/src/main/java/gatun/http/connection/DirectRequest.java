// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import io.helidon.http.HeaderName;
import io.helidon.http.Method;
import java.util.Locale;
import java.util.Optional;
import java.util.function.BiConsumer;

/** A request with a plain head, read in place; reused for the next. For the connection's thread. */
final class DirectRequest implements IncomingRequest {
    private final RequestHeadParser head;
    private String lastPath = "";
    private boolean bodyConsumed;

    DirectRequest(RequestHeadParser head) {
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
