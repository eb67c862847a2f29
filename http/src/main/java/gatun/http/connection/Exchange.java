// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.connection.AllowedOrigins.HostCheck;
import gatun.http.connection.AllowedOrigins.RequestOrigin;
import gatun.http.json.JsonWriter;
import gatun.memory.buffers.ClientQuotaKey;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.runtime.ModelVersion;
import gatun.runtime.access.PeerLocation;
import gatun.runtime.limits.WorkBudgets.WorkBudget;
import gatun.runtime.server.ServerResources;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** One request and its response. For the connection's thread. */
public final class Exchange {
    /** An unwanted body of at most this many bytes is read to its end; with a longer one the connection is closed. */
    private static final long UNWANTED_BYTES = 1 << 20;

    /** The response headers that a page of another origin may read, besides those that every page may. */
    private static final String EXPOSED = "Inference-Header-Content-Length, Content-Encoding";

    /** The headers by which proxies say that a request came through them. */
    private static final List<HeaderName> FORWARDING =
            PeerLocation.forwardingHeaders().stream().map(HeaderNames::create).toList();

    /** How long a browser may remember what a page of another server may do. */
    private static final String MAX_AGE_SECONDS = "600";

    /** The most characters of the text of a failure; the text repeats parts of the request, and those may be long. */
    private static final int SHOWN_CHARS = 4096;

    private static final HeaderName TRACEPARENT = HeaderNames.create("traceparent");
    private static final Object THIS_MACHINE = "this machine";
    private static final MemorySegment[] NO_TENSORS = {};
    private static final ResponseHeaders.Constant OK = ResponseHeaders.constant(Status.OK_200);
    private static final ResponseHeaders.Constant NO_CONTENT = ResponseHeaders.constant(Status.NO_CONTENT_204);

    private final ClientConnection connection;
    private final HostCheck hosts;
    private final Kept kept;
    private final RequestBody body;
    private IncomingRequest request;
    private boolean answered;
    /** Whether the connection was asked if this is its last response, and what it said. */
    private boolean lastAsked;

    private boolean last;
    /** Whether the text of the response has been too long for one piece, so that part of it is sent. */
    private boolean begun;
    /** The other origin whose page may read the response; empty for none. */
    private String allowedOrigin = "";

    /** {@code request}, which came over {@code connection}; {@code hosts} tells this server's names from others. */
    Exchange(ClientConnection connection, IncomingRequest request, HostCheck hosts, Kept kept) {
        this.connection = connection;
        this.hosts = hosts;
        this.kept = kept;
        this.request = request;
        this.body = new RequestBody(connection, request);
    }

    /** The path as sent, without the query; of an absolute URI, as proxies receive it, the part after the server. */
    public String path() {
        return request.path();
    }

    /** The query as it was sent, without the question mark; empty when there is none. */
    public String query() {
        return request.query();
    }

    /** The method. */
    public Method method() {
        return request.method();
    }

    /** The location of the client: on another machine, too, where a proxy says that the request came through it. */
    public PeerLocation location() {
        for (HeaderName header : FORWARDING) {
            if (request.has(header)) {
                return PeerLocation.OTHER_MACHINE;
            }
        }
        return connection.location();
    }

    Optional<String> host() {
        return request.host();
    }

    boolean isFor(String lowerCase) {
        return request.isFor(lowerCase);
    }

    /** The first value of a header. */
    public Optional<String> header(HeaderName name) {
        return request.first(name);
    }

    /** The first value of the header of this name, whose case makes no difference. */
    public Optional<String> header(String name) {
        return header(HeaderNames.create(name));
    }

    /** Shows {@code reader} the name, as the client wrote it, and the first value of each header. */
    public void eachHeader(BiConsumer<String, String> reader) {
        request.eachHeader(reader);
    }

    /** Whether the request has a header. */
    public boolean hasHeader(HeaderName name) {
        return request.has(name);
    }

    /**
     * Has the rest of the routes see another head, with a {@code path} without a query, before the client's body.
     * {@code headers} count instead of the client's; an empty one hides the header.
     */
    public void rewrite(Method method, String path, Map<HeaderName, Optional<String>> headers) {
        request = new RewrittenRequest(request, method, path, headers);
    }

    /** Whose request it is, as far as its connection tells. */
    public ClientQuotaKey sender() {
        return connection.sender();
    }

    /** What tells the clients of one network from others; all those on this machine count as one. */
    public Object network() {
        return ClientQuotaKey.network(connection.remotePeer().address()).orElse(THIS_MACHINE);
    }

    /** Where the connection's last request was led. */
    public LastRoute lastRoute() {
        return connection.lastRoute();
    }

    /**
     * The object that a route keeps with the connection from request to request, made by {@code maker}, always the
     * same, for the first; another route's takes its place. The route must leave nothing in it that the next could see.
     */
    @SuppressWarnings({"unchecked", "ReferenceEquality"}) // a maker's objects are of its type
    public <T> T kept(Supplier<T> maker) {
        if (kept.maker != maker) {
            kept.object = maker.get();
            kept.maker = maker;
        }
        return (T) Objects.requireNonNull(kept.object);
    }

    /** What a route keeps with a connection. For the connection's thread. */
    static final class Kept {
        private @Nullable Supplier<?> maker;
        private @Nullable Object object;
    }

    /** Begins a request's trace before its body is read; empty for most. The caller ends it. */
    public Optional<RequestTrace> beginTrace(ServerResources server, ModelVersion model) {
        Optional<RequestTrace> trace =
                server.tracing().begin(model.name(), model.version(), this, request -> request.header(TRACEPARENT));
        trace.ifPresent(present -> present.reached(TraceStage.HTTP_RECV_START));
        return trace;
    }

    /** Leaves the request out of what is told of connections: it only looks at the server. */
    public void markView() {
        connection.requests().markView();
    }

    /** The request's body, not yet read. */
    public RequestBody body() {
        return body;
    }

    /** An empty writer for the text of the response. */
    public JsonWriter json() {
        return connection.response().json();
    }

    /**
     * An empty writer for a response of any length: what does not fit a window is sent in pieces while it is written.
     * {@link #answer(ResponseHeaders, JsonWriter)} sends the rest, or a short text as a whole.
     */
    public JsonWriter json(ResponseHeaders headers) {
        return window(json(), headers);
    }

    /** The same with a writer of its own, for a response made from the text written to {@link #json()}. */
    public JsonWriter window(ResponseHeaders headers) {
        return window(new JsonWriter(), headers);
    }

    private JsonWriter window(JsonWriter text, ResponseHeaders headers) {
        return text.overflowTo(full -> {
            if (method().equals(Method.HEAD)) {
                return;
            }
            if (!begun) {
                begun = true;
                beginPieces(headers);
            }
            connection.response().sendPiece(full);
        });
    }

    /**
     * Begins a response of {@code byteSize} bytes; returns a writer whose text is sent while it is written.
     * {@link #answer(ResponseHeaders, JsonWriter, MemorySegment[], int)} sends the rest of the text, and the tensors.
     */
    public JsonWriter json(ResponseHeaders headers, long byteSize) {
        answered = true;
        begun = true;
        connection.response().beginSized(headers, closes(), byteSize);
        return json().overflowTo(connection.response()::sendPiece);
    }

    /** An empty writer for a response in pieces that {@link #beginPieces} has begun; a full window is sent at once. */
    public JsonWriter piece() {
        return json().overflowTo(connection.response()::sendPiece);
    }

    /** Closes {@code hold} at the connection's end; until then it is not idle. False if it has one already. */
    public boolean holdWithConnection(Hold hold) {
        return connection.attach(hold);
    }

    /** What the client may throw away. */
    public WorkBudget budget() {
        return connection.budget();
    }

    /** Ends the connection and what it waits for. Thread-safe; does nothing when it has ended. */
    public Runnable connectionEnd() {
        return connection::stopReading;
    }

    /**
     * Waits for {@code answer}, once the body was read; {@code onGone} is run on another thread, perhaps late, when the
     * client leaves. Throws {@link CloseConnectionException} when it is gone and there is no response.
     */
    public <T> T whileClientWaits(Runnable onGone, Supplier<T> answer) {
        return connection.whileClientWaits(onGone, answer);
    }

    /** Answers with status 200, {@code text} and the first {@code count} of {@code tensors}, from where they are. */
    public void answer(ResponseHeaders headers, JsonWriter text, MemorySegment[] tensors, int count) {
        answered = true;
        if (method().equals(Method.HEAD)) {
            long byteSize = text.total();
            for (int i = 0; i < count; i++) {
                byteSize += tensors[i].byteSize();
            }
            connection.response().sendHeadOf(headers, closes(), byteSize);
            return;
        }
        if (begun) {
            connection.response().sendLast(text, tensors, count);
            return;
        }
        connection.response().send(headers, closes(), text, tensors, count);
    }

    /** Answers with status 200 and {@code text}. */
    public void answer(ResponseHeaders headers, JsonWriter text) {
        answer(headers, text, NO_TENSORS, 0);
    }

    /** Begins a response in pieces ({@link #sendPiece}, {@link #endPieces}), the only one. Sends nothing yet. */
    public void beginPieces(ResponseHeaders headers) {
        answered = true;
        connection.response().beginPieces(headers, closes());
    }

    /** Sends a piece of the response, also while the client waits; waits for a client that reads slowly. */
    public void sendPiece(JsonWriter piece) {
        connection.response().sendPiece(piece);
        connection.finishWork();
    }

    /** Ends a response in pieces. */
    public void endPieces() {
        connection.response().endPieces();
    }

    /** Answers with {@code status} and no body. */
    public void answerEmpty(Status status) {
        answer(ResponseHeaders.of(ResponseHeaders.constant(status)), json());
    }

    /** Answers with status 200 and {@code bytes}, whose type a header tells. */
    public void answer(byte[] bytes) {
        answer(ResponseHeaders.of(OK), json().raw(bytes, bytes.length));
    }

    /** Answers that the request failed, as JSON: {@code {"error":"..."}}. */
    public void answerFailure(Status status, String text) {
        JsonWriter json = json().raw("{\"error\":").string(shortened(text)).raw('}');
        answer(ResponseHeaders.of(ResponseHeaders.constant(status, "Content-Type: application/json")), json);
    }

    /** Shortens a text that is longer than anybody reads: keeps the beginning and the end. */
    public static String shortened(String text) {
        int surplus = text.length() - SHOWN_CHARS;
        return surplus <= 0
                ? text
                : text.substring(0, SHOWN_CHARS / 2) + " ... (" + surplus + " characters left out) ... "
                        + text.substring(text.length() - SHOWN_CHARS / 2);
    }

    /** Answers that the request failed. */
    public void answerFailure(GatunException failure) {
        answerFailure(status(failure.code()), failure.getMessage());
    }

    /** Adds a header to the response, before the response is given; {@code value} is ASCII without line ends. */
    public void header(HeaderName name, String value) {
        connection.response().addHeaders(name.defaultCase() + ": " + value + "\r\n");
    }

    /** Lets the page that sends this request read its response, where {@code origins} contain its origin. */
    void allowOrigin(AllowedOrigins origins) {
        if (origins.isNone() || !hasHeader(HeaderNames.ORIGIN)) {
            return;
        }
        String origin = header(HeaderNames.ORIGIN).orElse("");
        if (origins.contain(origin)) {
            allowedOrigin = origin;
            connection
                    .response()
                    .addHeaders("Access-Control-Allow-Origin: " + origin + "\r\nVary: Origin\r\n"
                            + "Access-Control-Expose-Headers: " + EXPOSED + "\r\n");
        }
    }

    /**
     * Whether a browser sends it for a foreign page that is not let in, which could have the user's browser do what
     * only the user may. Browsers tell by {@code Sec-Fetch-Site}, on safe connections, and by {@code Origin}.
     */
    public boolean isOfForeignPage() {
        return allowedOrigin.isEmpty() && origin().isForeign();
    }

    /** As {@link RequestOrigin#isMisled}, for a page that is not let in. */
    boolean isOfMisledBrowser() {
        return allowedOrigin.isEmpty() && hasHeader(HeaderNames.ORIGIN) && origin().isMisled();
    }

    private RequestOrigin origin() {
        return new RequestOrigin(request, hosts, connection.isSecure());
    }

    /** Answers with a path's {@code methods}, separated by commas, and for a page let in with headers, too. */
    public void answerOptions(String methods) {
        header(HeaderNames.ALLOW, methods);
        if (!allowedOrigin.isEmpty()) {
            header(HeaderNames.ACCESS_CONTROL_ALLOW_METHODS, methods);
            header(
                    HeaderNames.ACCESS_CONTROL_ALLOW_HEADERS,
                    header(HeaderNames.ACCESS_CONTROL_REQUEST_HEADERS).orElse("*"));
            header(HeaderNames.ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS);
        }
        answerBodiless(ResponseHeaders.of(NO_CONTENT));
    }

    /** Answers with {@code headers} of a status that has no body, such as 304. */
    public void answerBodiless(ResponseHeaders headers) {
        answered = true;
        connection.response().sendBodiless(headers, closes());
    }

    boolean answered() {
        return answered;
    }

    /** Frees texts after the response. Throws {@link CloseConnectionException} where the connection is to end. */
    void finish() {
        connection.response().releaseTexts();
        connection.finishWork();
        if (!closes()) {
            return;
        }
        if (request.closes() && request.bodyConsumed()) {
            throw new CloseConnectionException("the client asked for it");
        }
        throw connection.linger();
    }

    /** The status that tells a client of such a failure. */
    public static Status status(ErrorCode code) {
        return switch (code) {
            case INTERNAL -> Status.INTERNAL_SERVER_ERROR_500;
            case NOT_FOUND -> Status.NOT_FOUND_404;
            case PERMISSION_DENIED -> Status.FORBIDDEN_403;
            case UNAVAILABLE -> Status.SERVICE_UNAVAILABLE_503;
            case RESOURCE_EXHAUSTED -> Status.REQUEST_ENTITY_TOO_LARGE_413;
            case UNSUPPORTED -> Status.NOT_IMPLEMENTED_501;
            case UNKNOWN, INVALID_ARGUMENT, ALREADY_EXISTS, CANCELLED -> Status.BAD_REQUEST_400;
        };
    }

    static byte[] failureBody(String text) {
        JsonWriter json = new JsonWriter().raw("{\"error\":").string(text).raw('}');
        return Arrays.copyOf(json.array(), json.size());
    }

    /** Whether the response ends the connection; does not change once the response's head is made. */
    boolean closes() {
        if (request.closes() || body.broken()) {
            return true;
        }
        if (request.bodyConsumed()) {
            return isLast();
        }
        // A client that asked whether to send the body, and is refused, may send it or not: both can come next.
        return body.announcedByteSize() == RequestBody.IN_CHUNKS
                || body.announcedByteSize() > UNWANTED_BYTES
                || hasHeader(HeaderNames.EXPECT);
    }

    private boolean isLast() {
        if (!lastAsked) {
            lastAsked = true;
            last = connection.isLast();
        }
        return last;
    }
}
