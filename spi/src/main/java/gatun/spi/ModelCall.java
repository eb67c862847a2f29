// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Tensor;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A backend's request to a model of its own server. Not thread-safe but for {@link #cancel}. */
public final class ModelCall {
    private final String model;
    private final String version;
    private final List<Tensor> inputs = new ArrayList<>();
    private final List<String> outputs = new ArrayList<>();
    private final Map<String, ParameterValue> parameters = new LinkedHashMap<>();
    private String id = "";
    private Optional<CorrelationId> correlationId = Optional.empty();
    private boolean startsSequence;
    private boolean endsSequence;
    private long timeoutMicros;
    private long priority;
    private boolean several;
    private Optional<ExecutionRequest> madeFor = Optional.empty();

    // Guarded by this.
    private boolean cancelled;
    private Runnable onCancel = () -> {};

    /** Takes the responses to a call. */
    @FunctionalInterface
    public interface Responses {
        /**
         * Takes a response. May wait; the model that is asked waits then too.
         *
         * @param outputs valid until this returns
         * @param last whether no more follow; a decoupled model may also end without one that is marked so
         */
        void accept(List<Tensor> outputs, Map<String, ParameterValue> parameters, boolean last);

        /** Takes a failure in a response's place. The call ends by it unless this says otherwise. */
        default void acceptFailure(GatunException reason) {
            throw reason;
        }
    }

    /** @param version in decimal; empty for the highest that is ready */
    public ModelCall(String model, String version) {
        this.model = model;
        this.version = version;
    }

    /** The model that is asked. */
    public String model() {
        return model;
    }

    /** Its version in decimal; empty for the highest that is ready. */
    public String version() {
        return version;
    }

    /** The inputs. */
    public List<Tensor> inputs() {
        return inputs;
    }

    /** Adds an input, whose bytes stay valid until the call is over. */
    public void input(Tensor tensor) {
        inputs.add(tensor);
    }

    /** The outputs that are wanted; empty for all. */
    public List<String> outputs() {
        return outputs;
    }

    /** Adds an output that is wanted. */
    public void output(String name) {
        outputs.add(name);
    }

    /** The parameters for the model's backend. */
    public Map<String, ParameterValue> parameters() {
        return parameters;
    }

    /** The name of the request; mostly empty. */
    public String id() {
        return id;
    }

    /** Names the request. */
    public void id(String newId) {
        id = newId;
    }

    /** The sequence that the request is a step of; empty for none. */
    public Optional<CorrelationId> correlationId() {
        return correlationId;
    }

    /** Makes the request a step of a sequence. */
    public void step(CorrelationId sequence, boolean starts, boolean ends) {
        correlationId = Optional.of(sequence);
        startsSequence = starts;
        endsSequence = ends;
    }

    /** Whether the sequence begins with this. */
    public boolean startsSequence() {
        return startsSequence;
    }

    /** Whether the sequence ends with this. */
    public boolean endsSequence() {
        return endsSequence;
    }

    /** How long the request may wait in the queue, in microseconds; 0 for the model's own limit. */
    public long timeoutMicros() {
        return timeoutMicros;
    }

    /** Sets how long the request may wait in the queue, in microseconds. */
    public void timeoutMicros(long micros) {
        timeoutMicros = micros;
    }

    /** The priority, 1 the highest; 0 for the model's default. */
    public long priority() {
        return priority;
    }

    /** Sets the priority. */
    public void priority(long newPriority) {
        priority = newPriority;
    }

    /** The request whose run makes this call, whose trace tells of it; empty for none. */
    public Optional<ExecutionRequest> madeFor() {
        return madeFor;
    }

    /** Has the trace of {@code request}, whose run goes on, tell of this call. */
    public void madeFor(ExecutionRequest request) {
        madeFor = Optional.of(request);
    }

    /** Whether any number of responses may come. */
    public boolean takesSeveral() {
        return several;
    }

    /** Lets a decoupled model answer. */
    public void takeSeveral() {
        several = true;
    }

    /** Cancels the call: CANCELLED for a waiting one; a running model may stop. Late responses are taken. */
    public void cancel() {
        Runnable action;
        synchronized (this) {
            cancelled = true;
            action = onCancel;
        }
        action.run();
    }

    /** Has the server told when this is given up; at once if it has been. For the server. */
    public void onCancel(Runnable action) {
        boolean now;
        synchronized (this) {
            onCancel = action;
            now = cancelled;
        }
        if (now) {
            action.run();
        }
    }
}
