// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import io.helidon.http.HeaderName;
import io.helidon.http.Method;
import java.util.Optional;
import java.util.function.BiConsumer;

/** A request whose head is refused: nothing is known of it except that its connection ends. */
final class MalformedRequest implements IncomingRequest {
    @Override
    public Method method() {
        return Method.GET;
    }

    @Override
    public String path() {
        return "";
    }

    @Override
    public String query() {
        return "";
    }

    @Override
    public Optional<String> first(HeaderName name) {
        return Optional.empty();
    }

    @Override
    public boolean has(HeaderName name) {
        return false;
    }

    @Override
    public void eachHeader(BiConsumer<String, String> reader) {
        // None is known.
    }

    @Override
    public boolean closes() {
        return true;
    }

    @Override
    public long announcedByteSize() {
        return 0;
    }

    @Override
    public void beginBody() {
        // Where it would begin is not known.
    }

    @Override
    public void endBody() {
        // Where it would end is not known.
    }

    /** Something may still come: the client is to hear the response before the connection ends. */
    @Override
    public boolean bodyConsumed() {
        return false;
    }
}
