// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import io.helidon.http.HeaderName;
import io.helidon.http.Method;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;

/** A request that is answered as if for another path, without a query; empty {@code headers} hide the client's. */
record RewrittenRequest(IncomingRequest original, Method method, String path, Map<HeaderName, Optional<String>> headers)
        implements IncomingRequest {
    @Override
    public String query() {
        return "";
    }

    @Override
    public Optional<String> first(HeaderName name) {
        Optional<String> rewritten = headers.get(name);
        return rewritten == null ? original.first(name) : rewritten;
    }

    @Override
    public Optional<String> host() {
        return original.host();
    }

    @Override
    public boolean has(HeaderName name) {
        Optional<String> rewritten = headers.get(name);
        return rewritten == null ? original.has(name) : rewritten.isPresent();
    }

    @Override
    public void eachHeader(BiConsumer<String, String> reader) {
        original.eachHeader(reader);
    }

    @Override
    public boolean closes() {
        return original.closes();
    }

    @Override
    public long announcedByteSize() {
        return original.announcedByteSize();
    }

    @Override
    public void beginBody() {
        original.beginBody();
    }

    @Override
    public void endBody() {
        original.endBody();
    }

    @Override
    public boolean bodyConsumed() {
        return original.bodyConsumed();
    }
}
