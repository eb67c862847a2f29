// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.buffers.ClientQuotaKey;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Tensor;
import gatun.runtime.GrowingList.RequestHolds;
import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.spi.CorrelationId;
import gatun.spi.ParameterValue;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * One inference as every protocol asks for it. A protocol builds it on one thread and hands it to
 * {@code InferenceServer.infer}, which owns it from then on; a protocol that fails before that closes it itself. Owns
 * the holds on the memory of its inputs and output destinations and gives them back in {@link #close()}.
 */
public final class InferenceRequest implements AutoCloseable {
    private final ModelVersion model;
    private final GrowingList<Tensor> inputs = new GrowingList<>();
    private @Nullable GrowingList<RequestedOutput> outputs;
    private final RequestHolds holds = new RequestHolds();
    private Map<String, ParameterValue> parameters = Map.of();
    private final Cancellation cancellation = new Cancellation();
    private Origin origin = Origin.EMBEDDED;
    private ClientQuotaKey sender = ClientQuotaKey.THIS_PROCESS;
    private String id = "";
    private String entryPoint = "";
    private long timeoutMicros;
    private long deadlineNanos;
    private boolean hasDeadline;
    private long priority;
    private @Nullable CorrelationId correlationId;
    private boolean sequenceStart;
    private boolean sequenceEnd;

    /** The request that {@link #onBehalf} made this one for; null for a client's own. */
    private @Nullable InferenceRequest original;

    /** Written by the thread of a run, read when its end is known or by another run for the same client's request. */
    private volatile boolean stepTaken;

    private @Nullable Runnable onSubmitted;
    private @Nullable ComputeTimes computeTimes;
    private boolean anyVersion;
    private @Nullable String versionLabel;
    private boolean takesLateResponses;
    private @Nullable RequestTrace trace;
    /** Whether nobody else ends the trace. */
    private boolean ownsTrace;

    /** Whether it may be asked again. */
    private boolean mayRepeat;

    /** What the version that answered it has kept for when it is asked again. */
    private @Nullable Object kept;

    /** A request to {@code model} without inputs yet. */
    public InferenceRequest(ModelVersion model) {
        this.model = model;
    }

    /**
     * A request to another model on behalf of this one: of the same sender, id, priority, timeout, deadline, sequence,
     * parameters and compute times, but without tensors and without claims on memory. Whoever gives this request up has
     * to see to the other.
     */
    public InferenceRequest onBehalf(ModelVersion other) {
        InferenceRequest request = new InferenceRequest(other);
        request.origin = origin;
        request.sender = sender;
        request.id = id;
        if (other.name().equals(model.name())) {
            request.entryPoint = entryPoint;
        }
        request.timeoutMicros = timeoutMicros;
        request.deadlineNanos = deadlineNanos;
        request.hasDeadline = hasDeadline;
        request.priority = priority;
        request.correlationId = correlationId;
        request.sequenceStart = sequenceStart;
        request.sequenceEnd = sequenceEnd;
        request.original = this;
        request.computeTimes = computeTimes;
        parameters.forEach(request::parameter);
        if (trace != null) {
            // The same model is asked on behalf of a request that looked for its response elsewhere first.
            request.ownsTrace = !other.name().equals(model.name());
            request.trace = request.ownsTrace ? trace.child(other.name(), other.version()) : trace;
        }
        return request;
    }

    /** Notes that a model may have taken this step of a sequence, so that a repeat may apply it twice. Thread-safe. */
    public void markStepTaken() {
        if (correlationId != null) {
            stepTaken = true;
            if (original != null) {
                original.markStepTaken();
            }
        }
    }

    /**
     * The failure that the client gets in the place of {@code failure}. UNAVAILABLE invites it to repeat the request;
     * when that is a step that a model may have taken, it is INTERNAL instead and says so. To be called for each
     * failure that comes after the request was submitted.
     */
    public GatunException afterRun(GatunException failure) {
        if (!stepTaken || failure.code() != ErrorCode.UNAVAILABLE) {
            return failure;
        }
        return new GatunException(
                ErrorCode.INTERNAL,
                failure.getMessage()
                        + "; this step of its sequence may have been applied, and to repeat it may apply it twice",
                failure);
    }

    /**
     * Allows this to be asked {@linkplain #repeat again}. For who hands neither this nor a response to it to anybody
     * that may still have it then. Windows in regions then stay this request's where a response would take them over.
     */
    public void allowRepeat() {
        mayRepeat = true;
    }

    /** Whether it may be asked again. */
    public boolean mayRepeat() {
        return mayRepeat;
    }

    /**
     * Opens this anew, which was answered and closed: it asks the same of the same version, with the same tensors,
     * whose elements may be others. Costs the version less than a new one.
     *
     * @return false where a new one is needed: the version has kept nothing of this one, it was given up, it is traced,
     *     or its memory cannot be renewed
     */
    public boolean repeat() {
        if (kept == null || trace != null || cancellation.isCancelled() || !holds.renew()) {
            return false;
        }
        stepTaken = false;
        hasDeadline = false;
        return true;
    }

    /** Keeps what a version has made of this, for {@link #takeKept} when this is asked again. For that version. */
    public void keep(Object made) {
        kept = made;
    }

    /** What {@link #keep} was called with last; null where it was taken since. */
    public @Nullable Object takeKept() {
        Object made = kept;
        kept = null;
        return made;
    }

    /** The model version that is to answer. */
    public ModelVersion model() {
        return model;
    }

    /** Whether the client named no version, so that any may answer which is ready when the request begins. */
    public boolean anyVersion() {
        return anyVersion;
    }

    /** Sets whether the client named no version. */
    public void anyVersion(boolean unnamed) {
        anyVersion = unnamed;
    }

    /** The label by which the client named the version; empty where it named none, or the version itself. */
    public Optional<String> versionLabel() {
        return Optional.ofNullable(versionLabel);
    }

    /** Sets the label by which the client named the version. */
    public void versionLabel(String label) {
        versionLabel = label;
    }

    /** Whether the responses that a decoupled model sends after this was given up are taken as those before. */
    public boolean takesLateResponses() {
        return takesLateResponses;
    }

    /** Has late responses taken, too. To be called before this is submitted. */
    public void takeLateResponses() {
        takesLateResponses = true;
    }

    /** The name of the entry point that is to answer; empty for the one that the configuration describes. */
    public String entryPoint() {
        return entryPoint;
    }

    /** Sets the name of the entry point that is to answer. */
    public void entryPoint(String name) {
        entryPoint = name;
    }

    /** Lets other threads give this request up. */
    public Cancellation cancellation() {
        return cancellation;
    }

    /** By which protocol, over which transport, this request came. */
    public Origin origin() {
        return origin;
    }

    /** Says by which protocol, over which transport, this request came. */
    public void origin(Origin newOrigin) {
        origin = newOrigin;
    }

    /** Whose request this is, as far as connections tell. */
    public ClientQuotaKey sender() {
        return sender;
    }

    /** Says whose request this is. */
    public void sender(ClientQuotaKey newSender) {
        sender = newSender;
    }

    /** The trace of this request; empty for most, which are not traced. */
    public Optional<RequestTrace> trace() {
        return Optional.ofNullable(trace);
    }

    /** Sets the trace of this request. The caller ends the trace after the request. */
    public void trace(RequestTrace newTrace) {
        trace = newTrace;
    }

    /** Tells the trace, if there is one, that the request is taken over now, with its inputs. */
    public void traceStart() {
        if (trace != null) {
            trace.started(id, inputs());
        }
    }

    /** Tells the trace, if there is one, the outputs of a response. */
    public void traceAnswer(InferenceResponse response) {
        if (trace != null) {
            RequestTrace told = trace;
            response.outputs().forEach(output -> told.answered(output.tensor()));
        }
    }

    /** Tells the trace, if there is one, that the request has been answered, or has failed. */
    public void traceEnd() {
        if (trace != null) {
            trace.reached(TraceStage.REQUEST_END);
        }
    }

    /** The client's name for this request; empty when it gave none. */
    public String id() {
        return id;
    }

    /** Sets the client's name for this request. */
    public void id(String newId) {
        id = newId;
    }

    /** How long the request may wait in the queue, in microseconds; 0 for the model's own limit. */
    public long timeoutMicros() {
        return timeoutMicros;
    }

    /** Sets how long the request may wait in the queue, in microseconds. */
    public void timeoutMicros(long micros) {
        timeoutMicros = micros;
    }

    /** Nanoseconds until the deadline; negative when it is past, {@link Long#MAX_VALUE} without one. */
    public long timeLeftNanos() {
        return hasDeadline ? deadlineNanos - System.nanoTime() : Long.MAX_VALUE;
    }

    /** Sets how long somebody waits for the response: the engine need not work longer. The caller cancels it then. */
    public void timeLeftNanos(long nanos) {
        deadlineNanos = System.nanoTime() + nanos;
        hasDeadline = true;
    }

    /** The priority, 1 the highest; 0 for the model's default. */
    public long priority() {
        return priority;
    }

    /** Sets the priority. */
    public void priority(long newPriority) {
        priority = newPriority;
    }

    /** The sequence that this request belongs to; empty when it names none. */
    public Optional<CorrelationId> correlationId() {
        return Optional.ofNullable(correlationId);
    }

    /** Sets the number of the sequence that this request belongs to, unsigned; 0 for none. */
    public void correlationId(long number) {
        correlationId = number == 0 ? null : new CorrelationId.Uint64(number);
    }

    /** Sets the name of the sequence that this request belongs to; empty for none. */
    public void correlationId(String text) {
        correlationId = text.isEmpty() ? null : new CorrelationId.Text(text);
    }

    /** Whether this is the first request of its sequence. */
    public boolean sequenceStart() {
        return sequenceStart;
    }

    /** Sets whether this is the first request of its sequence. */
    public void sequenceStart(boolean first) {
        sequenceStart = first;
    }

    /** Whether this is the last request of its sequence. */
    public boolean sequenceEnd() {
        return sequenceEnd;
    }

    /** Sets whether this is the last request of its sequence. */
    public void sequenceEnd(boolean last) {
        sequenceEnd = last;
    }

    /**
     * Sets the action for when a scheduler has taken this in, so that later submissions come after it; for an ensemble,
     * when its members have taken in the first steps and those of sequences. Not run for a request refused before. Must
     * return at once, and not throw; called by any thread.
     */
    public void onSubmitted(Runnable action) {
        onSubmitted = action;
    }

    /** Runs the action of {@link #onSubmitted(Runnable)} when a scheduler takes the request; again after a reload. */
    public void submitted() {
        if (onSubmitted != null) {
            onSubmitted.run();
        }
    }

    /** Sets where to add the time that engines work for this request; without this call it is not added up. */
    public void computeTimes(ComputeTimes times) {
        computeTimes = times;
    }

    /** Where the time is added that engines work for this request; from now on it is. */
    public ComputeTimes computeTimes() {
        ComputeTimes times = computeTimes;
        if (times == null) {
            times = new ComputeTimes();
            computeTimes = times;
        }
        return times;
    }

    /**
     * Adds the stages of a run that answered this, in nanoseconds: waiting for the run, preparing inputs, in the
     * engine, placing outputs. Only where {@link #computeTimes(ComputeTimes)} was called.
     */
    public void computed(long queueNanos, long inputNanos, long inferNanos, long outputNanos) {
        if (computeTimes != null) {
            computeTimes.add(queueNanos, inputNanos, inferNanos, outputNanos);
        }
    }

    /** Notes that a run for this request had {@code rows} items, where {@link #computeTimes(ComputeTimes)} was called. */
    public void ranWith(int rows) {
        if (computeTimes != null) {
            computeTimes.noteBatch(rows);
        }
    }

    /** The inputs in the client's order; not yet checked against the model. */
    public List<Tensor> inputs() {
        return inputs;
    }

    /** Adds an input whose bytes are valid while the holds of this request are. */
    public void addInput(Tensor input) {
        inputs.append(input);
    }

    /** Names the request at the beginning of what is said about it. */
    public String logPrefix() {
        return "[request id: " + (id.isEmpty() ? "<id_unknown>" : id) + "] ";
    }

    /** The outputs that the client named, in its order; empty for all of them. */
    public List<RequestedOutput> outputs() {
        return outputs == null ? List.of() : outputs;
    }

    /** Adds an output; its destination's lease must be given to {@link #hold} too. */
    public void addOutput(RequestedOutput output) {
        GrowingList<RequestedOutput> named = outputs;
        if (named == null) {
            named = new GrowingList<>();
            outputs = named;
        }
        named.append(output);
    }

    /** Parameters that no protocol gives a meaning, for the backend. */
    public Map<String, ParameterValue> parameters() {
        return parameters.isEmpty() ? Map.of() : Collections.unmodifiableMap(parameters);
    }

    /** Adds a parameter for the backend. */
    public void parameter(String name, ParameterValue value) {
        if (parameters.isEmpty()) {
            parameters = new LinkedHashMap<>();
        }
        parameters.put(name, value);
    }

    /** Takes ownership of a claim on memory; closed with this request. */
    public void hold(Hold hold) {
        holds.append(hold);
    }

    /** The claims on memory that this request owns. */
    public List<Hold> holds() {
        return holds;
    }

    /** Hands a claim over to the caller, as to a response that shows its memory. False if this does not own it. */
    public boolean release(Hold hold) {
        return holds.release(hold);
    }

    /** Gives back all memory of inputs and destinations; only the first call does anything. */
    @Override
    public void close() {
        if (holds.close() && trace != null && ownsTrace) {
            trace.end();
        }
    }
}
