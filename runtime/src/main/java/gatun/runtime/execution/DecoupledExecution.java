// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.runtime.statistics.ResponseTable;

/**
 * One run of an instance of a decoupled model, for one request: its outputs go out in as many responses as the backend sends. A window in
 * the client's memory holds the output of the response that was sent last.
 */
final class DecoupledExecution extends InstanceExecution {
    private final ResponseTable responses;

    DecoupledExecution(BufferPool pool, ResponseTable responses) {
        super(pool);
        this.responses = responses;
    }

    @Override
    void begin(InferenceTicket next) {
        super.begin(next);
        next.progress().begin(startedNanos());
    }

    @Override
    void brokenOff() {
        ticket().progress().brokenOff(responses, ticket().isUnwanted());
    }

    @Override
    public void send() {
        sendMade(false);
    }

    /** Ends a run that the backend says it finished: what it made and did not send is the last response. */
    @Override
    void finish() {
        InferenceTicket done = ticket();
        if (!done.isAnythingMade() || !sendMade(true)) {
            done.progress().ended(responses);
        }
        answered(done);
        end();
    }

    private boolean sendMade(boolean last) {
        InferenceTicket running = ticket();
        long madeNanos = System.nanoTime();
        try {
            for (int i = 0; i < running.outputCount(); i++) {
                classify(i);
            }
            running.settle();
            boolean sent = running.send(last);
            if (sent) {
                running.progress().sent(responses, madeNanos);
            }
            return sent;
        } catch (GatunException e) {
            throw refuse(e);
        }
    }

    /** Always copies: the next response may show the same input, and only one could own its memory. */
    @Override
    public void outputFromInput(int output, int input, Shape shape) {
        Tensor source = ticket().input(input);
        TensorCopy.copy(
                source.bytes(),
                output(output, source.spec().datatype(), shape, source.bytes().byteSize()));
    }
}
