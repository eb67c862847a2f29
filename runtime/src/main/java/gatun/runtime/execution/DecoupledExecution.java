package gatun.runtime.execution;

import gatun.memory.BufferPool;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.memory.TensorCopy;
import gatun.runtime.statistics.ResponseTable;

/**
 * One run of an instance of a decoupled model, for one request: its outputs go out in as many responses as the backend sends. A window in
 * the client's memory holds the output of the response that was sent last.
 */
final class DecoupledExecution extends InstanceExecution {
    private final ResponseTable responses;
    private int place;
    private long beforeNanos;

    DecoupledExecution(ModelSignature signature, BufferPool pool, ResponseTable responses) {
        super(signature, pool);
        this.responses = responses;
    }

    @Override
    void begin(InferenceTicket next) {
        super.begin(next);
        place = 0;
        beforeNanos = startedNanos();
    }

    @Override
    void brokenOff() {
        long nanos = System.nanoTime() - beforeNanos;
        if (ticket().isUnwanted()) {
            responses.cancelled(place, nanos);
        } else {
            responses.failed(place, nanos);
        }
    }

    @Override
    public void send() {
        sendMade(false);
    }

    /** Ends a run that the backend says it finished: what it made and did not send is the last response. */
    @Override
    void finish() {
        InferenceTicket done = ticket();
        if (isAnythingMade(done)) {
            sendMade(true);
        } else {
            responses.ended(place, System.nanoTime() - beforeNanos);
        }
        answered(done);
        end();
    }

    private static boolean isAnythingMade(InferenceTicket ticket) {
        for (int i = 0; i < ticket.outputCount(); i++) {
            if (ticket.result(i) != null) {
                return true;
            }
        }
        return false;
    }

    private void sendMade(boolean last) {
        InferenceTicket running = ticket();
        long madeNanos = System.nanoTime();
        try {
            for (int i = 0; i < running.outputCount(); i++) {
                classify(i);
            }
            running.settle();
            running.send(last);
            long sentNanos = System.nanoTime();
            responses.sent(place++, madeNanos - beforeNanos, sentNanos - madeNanos);
            beforeNanos = sentNanos;
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
