// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

import gatun.http.json.JsonWriter;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import io.helidon.http.Method;
import io.helidon.http.Status;
import io.helidon.webserver.CloseConnectionException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** One request and its answer. For the connection's thread. */
public final class Exchange {
    /** A body that nobody wants is read to its end when it is at most so long; else the connection is closed. */
    private static final long UNWANTED_BYTES = 1 << 20;

    /** What a page of another server may read of an answer's head, beside what every page may. */
    private static final String EXPOSED = "Inference-Header-Content-Length, Content-Encoding";

    /** How long a browser may remember what a page of another server may do. */
    private static final String MAX_AGE_SECONDS = "600";

    /** What an answer that the request failed says at most; more of it is what the client has sent. */
    private static final int SHOWN_CHARS = 4096;

    private static final MemorySegment[] NO_TENSORS = {};

    private static final ResponseHeaders.Constant OK = ResponseHeaders.constant(Status.OK_200);
    private static final ResponseHeaders.Constant NO_CONTENT = ResponseHeaders.constant(Status.NO_CONTENT_204);

    private final ClientConnection connection;
    private final IncomingRequest request;
    private final RequestBody body;
    private boolean answered;
    /** Whether the connection was asked if this is its last response, and what it said. */
    private boolean lastAsked;

    private boolean last;
    /** Whether the text of the answer has been too long for one piece, so that part of it is sent. */
    private boolean begun;
    /** The page of another server that may read the answer; empty for none. */
    private String allowedOrigin = "";

    /** {@code request}, which came over {@code connection}. */
    Exchange(ClientConnection connection, IncomingRequest request) {
        this.connection = connection;
        this.request = request;
        this.body = new RequestBody(connection, request);
    }

    /**
     * The path as it was sent, without the query; of a whole address, as proxies are asked for it, the part behind the
     * server.
     */
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

    /** The request's body, not yet read. */
    public RequestBody body() {
        return body;
    }

    /** An empty writer for the text of the answer. */
    public JsonWriter json() {
        return connection.json();
    }

    /**
     * An empty writer for the text of an answer with {@code headers}, which may be of any length: what does not fit a
     * window is sent while it is written, in pieces. {@link #answer(ResponseHeaders, JsonWriter)} sends the rest of it,
     * or a short text as a whole.
     */
    public JsonWriter json(ResponseHeaders headers) {
        return window(json(), headers);
    }

    /** The same with a writer of its own, for who makes the answer of what is written to {@link #json()}. */
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
            connection.sendPiece(full);
        });
    }

    /**
     * Begins an answer of {@code byteSize} bytes, and answers an empty writer for its text, which is sent while it is
     * written. {@link #answer(ResponseHeaders, JsonWriter, MemorySegment[], int)} sends the rest of it, and tensors.
     */
    public JsonWriter json(ResponseHeaders headers, long byteSize) {
        answered = true;
        begun = true;
        connection.beginSized(headers, closes(), byteSize);
        return json().overflowTo(connection::sendPiece);
    }

    /**
     * An empty writer for an answer of pieces that {@link #beginPieces} has begun; what fills a window is sent at once.
     */
    public JsonWriter piece() {
        return json().overflowTo(connection::sendPiece);
    }

    /**
     * Waits for {@code answer}, and notices meanwhile when the client leaves. The body must have been read before.
     *
     * @param onGone is run, on another thread, when the client is gone; perhaps a moment after the answer has come
     * @throws CloseConnectionException when the client is gone and there is no answer
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
            connection.sendHeadOf(headers, closes(), byteSize);
            return;
        }
        if (begun) {
            connection.sendLast(text, tensors, count);
            return;
        }
        connection.send(headers, closes(), text, tensors, count);
    }

    /** Answers with status 200 and {@code text}. */
    public void answer(ResponseHeaders headers, JsonWriter text) {
        answer(headers, text, NO_TENSORS, 0);
    }

    /**
     * Begins an answer of pieces, for {@link #sendPiece} and {@link #endPieces}. From then on no other answer can be
     * given. Nothing is sent before the first piece.
     */
    public void beginPieces(ResponseHeaders headers) {
        answered = true;
        connection.beginPieces(headers, closes());
    }

    /** Sends a piece of the answer, also while the client waits; waits for a client that reads slowly. */
    public void sendPiece(JsonWriter piece) {
        connection.sendPiece(piece);
    }

    /** Ends an answer of pieces. */
    public void endPieces() {
        connection.endPieces();
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

    /** A text that is not longer than anybody reads: of a long one its begin and its end. */
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

    /** Adds a header to the answer, before it is given; {@code value} is ASCII without line ends. */
    public void header(HeaderName name, String value) {
        connection.addHeaders(name.defaultCase() + ": " + value + "\r\n");
    }

    /** Lets the page that sends this request read its answer, where {@code origins} have it. */
    void allowOrigin(AllowedOrigins origins) {
        if (origins.isNone() || !hasHeader(HeaderNames.ORIGIN)) {
            return;
        }
        String origin = header(HeaderNames.ORIGIN).orElse("");
        if (origins.contain(origin)) {
            allowedOrigin = origin;
            connection.addHeaders("Access-Control-Allow-Origin: " + origin + "\r\nVary: Origin\r\n"
                    + "Access-Control-Expose-Headers: " + EXPOSED + "\r\n");
        }
    }

    /**
     * Answers a client that asks what it may do with a path: the methods, and for a page of another server that is let
     * in the headers too.
     *
     * @param methods separated by commas
     */
    public void answerOptions(String methods) {
        header(HeaderNames.ALLOW, methods);
        if (!allowedOrigin.isEmpty()) {
            header(HeaderNames.ACCESS_CONTROL_ALLOW_METHODS, methods);
            header(
                    HeaderNames.ACCESS_CONTROL_ALLOW_HEADERS,
                    header(HeaderNames.ACCESS_CONTROL_REQUEST_HEADERS).orElse("*"));
            header(HeaderNames.ACCESS_CONTROL_MAX_AGE, MAX_AGE_SECONDS);
        }
        answered = true;
        connection.sendBodiless(ResponseHeaders.of(NO_CONTENT), closes());
    }

    /** Whether an answer has been begun, so that no other can be given. */
    boolean answered() {
        return answered;
    }

    /**
     * What remains to be done after the answer.
     *
     * @throws CloseConnectionException when the connection is to end
     */
    void finish() {
        connection.releaseTexts();
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
            case UNAVAILABLE -> Status.SERVICE_UNAVAILABLE_503;
            case RESOURCE_EXHAUSTED -> Status.REQUEST_ENTITY_TOO_LARGE_413;
            case UNSUPPORTED -> Status.NOT_IMPLEMENTED_501;
            case UNKNOWN, INVALID_ARGUMENT, ALREADY_EXISTS, CANCELLED -> Status.BAD_REQUEST_400;
        };
    }

    /** The body of an answer that the request failed. */
    static byte[] failureBody(String text) {
        JsonWriter json = new JsonWriter().raw("{\"error\":").string(text).raw('}');
        return Arrays.copyOf(json.array(), json.size());
    }

    /** Whether the response ends the connection; the same answer from the response's head on. */
    boolean closes() {
        if (request.closes() || body.broken()) {
            return true;
        }
        if (request.bodyConsumed()) {
            return isLast();
        }
        // Who asked whether to send the body, and is refused, may send it or not: what comes next could be either.
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
