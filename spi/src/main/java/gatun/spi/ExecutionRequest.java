// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.GatunException;
import java.util.Map;
import java.util.Optional;

/**
 * A request that an {@link Execution} is for: all that is known of it beside its tensors. Valid until the run ends;
 * used by the instance's thread only, but for {@link #cancelled}, which any thread may ask.
 */
public interface ExecutionRequest {
    /** The client's name for the request; empty when it gave none. */
    String id();

    /**
     * The sequence that the request is a step of, as the client named it; empty when it is of none, and for a row that
     * stands in a batch for a sequence without a step. For a model without {@code sequence_batching}, this and the next
     * two are only what the client said.
     */
    Optional<CorrelationId> correlationId();

    /** Whether the sequence begins, or begins anew, with this step: earlier state must not be used. */
    boolean startsSequence();

    /** Whether the sequence ends with this step, so that what the model knows of it may be forgotten. */
    boolean endsSequence();

    /** How many rows of the batch dimension are this request's; 0 when the model has no such dimension. */
    int batchSize();

    /** The parameters that no protocol gives a meaning, as the client set them. */
    Map<String, ParameterValue> parameters();

    /**
     * Sets a parameter of the response that is made next. One that is set twice has the later value.
     *
     * @param name not one that begins with {@code triton_}, which the protocol keeps for itself
     */
    void responseParameter(String name, ParameterValue value);

    /**
     * Asks that the request run once more, in a later batch, when this run has succeeded: its sequence goes on, with
     * the states that this run gives, and neither starts nor ends with that run. For models whose configuration says
     * {@code iterative_sequence: true}; the end of a run in which a request does not ask for this ends the request. The
     * outputs that the run made for the request go to the client when the model is decoupled, and are dropped
     * otherwise, so that they need not be made where all requests of the run ask for another.
     *
     * @throws GatunException INVALID_ARGUMENT when the configuration does not say so
     */
    void runAgain();

    /** Leaves this request out of a decoupled model's next response; does nothing for others. */
    void skipResponse();

    /**
     * Answers this request without an output that it wants: for models whose responses have some of their outputs. A
     * wanted output that is neither made nor left out fails the request, since most models owe all of them. Needless
     * for decoupled models.
     *
     * @param output a name; one that the request does not want is ignored
     */
    void leaveOut(String output);

    /** Whether the client has given the request up meanwhile, so that work for it alone may be left out. */
    boolean cancelled();

    /** How long the client lets the request wait in the queue, in microseconds; 0 when it did not say. */
    long timeoutMicros();

    /** The priority that the client gave the request, 1 the highest; 0 when it gave none. */
    long priority();

    /** This run's span as a {@code traceparent} header, to continue the trace; empty if not collected. */
    Optional<String> traceContext();

    /**
     * Notes something of the backend's own in the trace of this request, if there is one: that {@code name} happened
     * now. Two whose names are one text and then {@code _START} and {@code _END} are told as a span, within those that
     * have begun and not ended; others as an event.
     *
     * @param name in capitals, as the server's own are, such as {@code TOKENIZER_START}
     */
    void traceActivity(String name);

    /**
     * Fails this request and no other of the run. What is made for it is dropped; the run goes on for the others.
     *
     * @param reason its code and text are what the client gets
     */
    void fail(GatunException reason);
}
