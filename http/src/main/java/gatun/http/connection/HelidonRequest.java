// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import io.helidon.http.Header;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.HeaderValues;
import io.helidon.http.Method;
import io.helidon.webserver.ServerConnectionException;
import io.helidon.webserver.http.ServerRequest;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import java.util.function.BiConsumer;

/** A request whose head Helidon has read. */
final class HelidonRequest implements IncomingRequest {
    private static final String BEFORE_SERVER = "://";

    private final ServerRequest request;
    private final ClientBytes bytes;
    private final long announcedByteSize;

    /** The stream that Helidon would have the body read from; empty before {@link #beginBody}. */
    private InputStream body = InputStream.nullInputStream();

    /** The request that came in {@code bytes}. */
    HelidonRequest(ServerRequest request, ClientBytes bytes) {
        this.request = request;
        this.bytes = bytes;
        this.announcedByteSize = request.headers().contains(HeaderNames.TRANSFER_ENCODING)
                ? RequestBody.IN_CHUNKS
                : request.headers().contentLength().orElse(0);
    }

    @Override
    public Method method() {
        return request.prologue().method();
    }

    @Override
    public String path() {
        String path = request.prologue().uriPath().rawPath();
        int slash = serverEnd(path, serverBegin(path));
        return slash == path.length() ? path : path.substring(slash);
    }

    @Override
    public Optional<String> host() {
        Optional<String> header = first(HeaderNames.HOST);
        String path = request.prologue().uriPath().rawPath();
        int server = serverBegin(path);
        return header.isPresent() || server == 0
                ? header
                : Optional.of(path.substring(server, serverEnd(path, server)));
    }

    /** Where the server begins in an absolute URI, as proxies receive it; 0 in a path. */
    private static int serverBegin(String uri) {
        int server = uri.startsWith("/") ? -1 : uri.indexOf(BEFORE_SERVER);
        return server < 0 ? 0 : server + BEFORE_SERVER.length();
    }

    private static int serverEnd(String uri, int begin) {
        int slash = uri.indexOf('/', begin);
        return slash < 0 ? uri.length() : slash;
    }

    @Override
    public String query() {
        return request.prologue().query().rawValue();
    }

    @Override
    public Optional<String> first(HeaderName name) {
        return request.headers().first(name);
    }

    @Override
    public boolean has(HeaderName name) {
        return request.headers().contains(name);
    }

    @Override
    public void eachHeader(BiConsumer<String, String> reader) {
        for (Header header : request.headers()) {
            reader.accept(header.name(), header.get());
        }
    }

    @Override
    public boolean closes() {
        return has(HeaderNames.CONNECTION) && request.headers().containsToken(HeaderValues.CONNECTION_CLOSE);
    }

    @Override
    public long announcedByteSize() {
        return announcedByteSize;
    }

    @Override
    public void beginBody() {
        body = request.content().inputStream();
    }

    @Override
    public void endBody() {
        if (announcedByteSize == RequestBody.IN_CHUNKS) {
            bytes.tookChunkedBody();
        } else {
            bytes.tookAnnouncedBody();
        }
        try {
            // Makes Helidon find the end of the body, which bypassed it.
            if (body.read() >= 0) {
                throw new IllegalStateException("a body was read twice");
            }
        } catch (IOException e) {
            throw new ServerConnectionException("reading nothing", e);
        }
    }

    /** Reads the rest of the body, which nobody wanted. */
    void skipBody() {
        if (!bodyConsumed()) {
            request.content().consume();
        }
    }

    @Override
    public boolean bodyConsumed() {
        return announcedByteSize == 0 || request.content().consumed();
    }
}
