// SPDX-License-Identifier: Apache-2.0
package gatun.client;

import gatun.memory.tensor.Tensor;
import java.util.concurrent.ThreadLocalRandom;

/** Requests of one sequence, in order; each call waits for its response. For one thread at a time. */
public final class InferSequence {
    private final GatunClient client;
    private final String model;
    private final long number = ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    private boolean begun;
    private boolean ended;

    InferSequence(GatunClient client, String model) {
        this.client = client;
        this.model = model;
    }

    /** The number by which the server knows the sequence. */
    public long number() {
        return number;
    }

    /** Makes the next request of the sequence, with these inputs and for all outputs. */
    public InferResponse next(Tensor... inputs) {
        return next(with(inputs));
    }

    /** Makes the last request of the sequence, with these inputs and for all outputs. */
    public InferResponse last(Tensor... inputs) {
        return last(with(inputs));
    }

    /**
     * Makes the next request of the sequence.
     *
     * @throws IllegalStateException when the last was made already
     */
    public InferResponse next(InferRequest.Builder request) {
        return infer(request, false);
    }

    /**
     * Makes the last request of the sequence.
     *
     * @throws IllegalStateException when it was made already
     */
    public InferResponse last(InferRequest.Builder request) {
        return infer(request, true);
    }

    private InferRequest.Builder with(Tensor... inputs) {
        InferRequest.Builder request = InferRequest.to(model);
        for (Tensor input : inputs) {
            request.input(input);
        }
        return request;
    }

    private InferResponse infer(InferRequest.Builder request, boolean last) {
        if (ended) {
            throw new IllegalStateException(
                    "sequence " + number + " of model '" + model + "' has ended: begin another with sequence()");
        }
        InferResponse response =
                client.infer(request.sequence(number, !begun, last).build());
        begun = true;
        ended = last;
        return response;
    }
}
