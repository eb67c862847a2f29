// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.logging;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ComputeTimes;
import gatun.runtime.InferenceRequest;
import gatun.runtime.events.FlightRecording;
import gatun.runtime.events.RequestEvent;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceParent;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.net.SocketAddress;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What the access log, and a flight recording, say of one request. A listener makes it when a request's head has been
 * read, {@linkplain #bind binds} it to the thread that answers, so that the server adds the model that is asked, and
 * ends it once. Texts of clients are kept as they came, up to a length. For one thread at a time, except {@link #end}.
 */
public final class AccessEntry {
    /** The most characters of a model's name, a request's id and such that are kept. */
    public static final int NAME_LIMIT = 256;

    /** The most characters of a path that are kept. */
    public static final int PATH_LIMIT = 1024;

    /** The number of bytes where nobody knows it. */
    public static final long UNKNOWN = -1;

    private static final ThreadLocal<@Nullable AccessEntry> CURRENT = new ThreadLocal<>();

    private static final VarHandle ENDED;

    static {
        try {
            ENDED = MethodHandles.lookup().findVarHandle(AccessEntry.class, "ended", boolean.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final AccessLog log;
    private final String transport;
    private final @Nullable SocketAddress peer;
    private final String request;
    private long beganNanos;

    @SuppressWarnings("UnusedVariable") // through ENDED
    private volatile boolean ended;

    /** Null unless a recording wants it. */
    private @Nullable RequestEvent event;

    private String protocol = "";
    private String model = "";
    private String version = "";
    private String requestId = "";
    private String traceId = "";
    private @Nullable ComputeTimes times;
    private long arrivedNanos;
    private long inferredNanos;
    private @Nullable RequestFailure failure;
    private long inByteSize = UNKNOWN;
    private long outByteSize = UNKNOWN;
    private String status = "";
    private long durationNanos;

    private AccessEntry(AccessLog log, String transport, @Nullable SocketAddress peer, String request) {
        this.log = log;
        this.transport = transport;
        this.peer = peer;
        this.request = request;
        start();
    }

    private void start() {
        beganNanos = System.nanoTime();
        event = FlightRecording.request();
    }

    /**
     * An entry for {@code log} of a request that begins now.
     *
     * @param transport {@code http}, {@code grpc}, {@code grpc_stream}, {@code lane} or {@code embedded}
     * @param peer the client's address; null where there is none
     * @param request the method and the path, or the name of the procedure that is called
     */
    public static AccessEntry begin(AccessLog log, String transport, @Nullable SocketAddress peer, String request) {
        return new AccessEntry(log, transport, peer, cut(request, PATH_LIMIT));
    }

    /** An entry of a request that comes on the stream which this is the entry of. */
    public AccessEntry onStream(String streamTransport) {
        AccessEntry entry = new AccessEntry(log, streamTransport, peer, request);
        entry.traceId = traceId;
        return entry;
    }

    /** The entry of the request that the calling thread answers; null where there is none. */
    public static @Nullable AccessEntry current() {
        return CURRENT.get();
    }

    /** Has the calling thread answer this request, until {@link #unbind}. */
    public void bind() {
        CURRENT.set(this);
    }

    /** Has the calling thread answer none any more. */
    public static void unbind() {
        CURRENT.set(null); // where it was removed, the next one would need a place of its own
    }

    /** Notes the model that the calling thread's request asks for; the first counts. */
    public static void noteModel(String name, String version) {
        AccessEntry entry = CURRENT.get();
        if (entry != null && entry.model.isEmpty()) {
            entry.model = cut(name, NAME_LIMIT);
            entry.version = cut(version, NAME_LIMIT);
        }
    }

    /** Notes the inference that the calling thread's request asks for. */
    public static void noteInference(InferenceRequest inference) {
        AccessEntry entry = CURRENT.get();
        if (entry != null) {
            entry.infers(inference);
        }
    }

    /** Notes that the inference of the calling thread's request is over. */
    public static void noteInferred() {
        AccessEntry entry = CURRENT.get();
        if (entry != null) {
            entry.inferredNanos = System.nanoTime() - entry.beganNanos;
        }
    }

    /** Notes why the inference of the calling thread's request failed. */
    public static void noteFailure(GatunException reason) {
        AccessEntry entry = CURRENT.get();
        if (entry != null) {
            entry.failure = new RequestFailure(reason.code(), reason.getMessage());
        }
    }

    private void infers(InferenceRequest inference) {
        protocol = inference.origin().protocol();
        model = cut(inference.model().name(), NAME_LIMIT);
        version = inference.model().versionText();
        requestId = cut(inference.id(), NAME_LIMIT);
        times = inference.computeTimes();
        arrivedNanos = System.nanoTime() - beganNanos;
        if (traceId.isEmpty()) {
            Optional<RequestTrace> trace = inference.trace().filter(RequestTrace::isExported);
            traceId = trace.map(present -> Long.toString(present.id())).orElse("");
        }
    }

    /** Notes the value of the client's header {@code traceparent}. */
    public void traceParent(String header) {
        traceId = TraceParent.parse(header).map(TraceParent::traceId).orElse("");
    }

    /** Notes how many bytes the bodies or messages of the request and of the response have. */
    public void byteSizes(long received, long sent) {
        inByteSize = received;
        outByteSize = sent;
    }

    /**
     * Ends the request, and writes the entry and its event; only the first call does anything.
     *
     * @param result the number or the name of the status that the client got; empty when it got none
     * @return whether it may become another request's by {@link #restart}, since nobody keeps it
     */
    public boolean end(String result) {
        if (!ENDED.compareAndSet(this, false, true)) {
            return false;
        }
        status = result;
        durationNanos = System.nanoTime() - beganNanos;
        tell();
        return !log.write(this);
    }

    /** Makes this the entry of another inference, which came in the same way and begins now. */
    public void restart() {
        protocol = "";
        model = "";
        version = "";
        requestId = "";
        traceId = "";
        times = null;
        arrivedNanos = 0;
        inferredNanos = 0;
        failure = null;
        inByteSize = UNKNOWN;
        outByteSize = UNKNOWN;
        status = "";
        durationNanos = 0;
        start();
        ended = false;
    }

    private void tell() {
        RequestEvent told = event;
        if (told == null || !told.endWanted()) {
            return;
        }
        told.asked(transport, protocol, request);
        told.model(model, version);
        told.answered(status, traceId);
        told.byteSizes(inByteSize, outByteSize);
        ComputeTimes stages = times;
        if (stages != null) {
            told.stages(stages);
        }
        told.commit();
    }

    /** When the request began, as the clock says now. */
    public Instant time() {
        return Instant.now().minusNanos(System.nanoTime() - beganNanos);
    }

    /** How it came. */
    public String transport() {
        return transport;
    }

    /** The protocol of an inference; empty for another request. */
    public String protocol() {
        return protocol;
    }

    /** The client's address; null where there is none. */
    public @Nullable SocketAddress peer() {
        return peer;
    }

    /** The method and the path, or the name of the procedure. */
    public String request() {
        return request;
    }

    /** The model that was asked; empty when none was. */
    public String model() {
        return model;
    }

    /** The version that answered, or that was asked for; empty when none was. */
    public String version() {
        return version;
    }

    /** The client's name for the request; empty for none. */
    public String requestId() {
        return requestId;
    }

    /** The trace of the request; empty for none. */
    public String traceId() {
        return traceId;
    }

    /** The status; empty when the client got none. */
    public String status() {
        return status;
    }

    /** Bytes of the request's body or messages; {@link #UNKNOWN} where nobody knows. */
    public long inByteSize() {
        return inByteSize;
    }

    /** Bytes of the response's body or messages; {@link #UNKNOWN} where nobody knows. */
    public long outByteSize() {
        return outByteSize;
    }

    /** How long the request took until its response was sent. */
    public long durationNanos() {
        return durationNanos;
    }

    /** How long reading the request took until its inference began; 0 for another request. */
    public long arrivedNanos() {
        return arrivedNanos;
    }

    /** How long the request took until its inference was over; 0 for another request. */
    public long inferredNanos() {
        return inferredNanos;
    }

    /** Why the inference failed; empty where it did not, and for another request. */
    public Optional<RequestFailure> failure() {
        return Optional.ofNullable(failure);
    }

    /** How long the stages of an inference took; null for another request. */
    public @Nullable ComputeTimes times() {
        return times;
    }

    private static String cut(String text, int limit) {
        return text.length() <= limit ? text : text.substring(0, limit) + "...";
    }
}
