package gatun.runtime.execution;

import gatun.memory.BufferPool;
import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.memory.TensorCopy;

/**
 * One run of an instance of a decoupled model, for one request: its outputs go out in as many responses as the backend sends. A window in
 * the client's memory holds the output of the response that was sent last.
 */
final class DecoupledExecution extends InstanceExecution {
    DecoupledExecution(ModelSignature signature, BufferPool pool) {
        super(signature, pool);
    }

    @Override
    public void send() {
        sendMade(false);
    }

    /** Ends a run that the backend says it finished: what it made and did not send is the last response. */
    @Override
    void finish() {
        InferenceTicket done = ticket();
        for (int i = 0; i < done.outputCount(); i++) {
            if (done.result(i) != null) {
                sendMade(true);
                break;
            }
        }
        answered(done);
        end();
    }

    private void sendMade(boolean last) {
        InferenceTicket running = ticket();
        try {
            for (int i = 0; i < running.outputCount(); i++) {
                classify(i);
            }
            running.settle();
            running.send(last);
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
