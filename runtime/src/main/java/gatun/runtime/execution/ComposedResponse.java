// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.Buffer;
import gatun.memory.buffers.BufferPool;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.RequestedOutput;
import gatun.spi.CorrelationId;
import gatun.spi.ParameterValue;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;

/**
 * The response to a request, put together from existing tensors; brings each output to where, and in the form, that the
 * client wants. Used by one thread at a time, which ends it by {@link #response} or {@link #fail}.
 */
public final class ComposedResponse {
    private static final ParameterValue NO_SEQUENCE = new ParameterValue.Int64(0);

    private final PendingInference pending;
    private final ModelSignature signature;
    private final BufferPool pool;

    ComposedResponse(PendingInference pending, ModelSignature signature, BufferPool pool) {
        this.pending = pending;
        this.signature = signature;
        this.pool = pool;
    }

    /** The batch size of the request; 0 when the model has no batch dimension. */
    public int batchSize() {
        return pending.batchSize();
    }

    /** The request's inputs as a backend would get them: with the dimensions of their reshape. */
    public List<Tensor> inputs() {
        return pending.tensors().inputs();
    }

    /** How many outputs the client wants. */
    public int outputCount() {
        return pending.tensors().outputCount();
    }

    /** Output {@code index} of those that the client wants. */
    public RequestedOutput requestedOutput(int index) {
        return pending.tensors().requestedOutput(index);
    }

    /** The name of output {@code index} of those that the client wants. */
    public String outputName(int index) {
        return pending.tensors().rule(index).name();
    }

    /** The rank of requested output {@code index} before it is reshaped for the client, with the batch dimension. */
    public int outputRank(int index) {
        return pending.tensors().rule(index).backendDims().rank() + signature.leadingDims();
    }

    /** What the client is told of an output. Throws INTERNAL when the configuration does not allow that. */
    public TensorSpec answered(int index, Datatype datatype, Shape shape) {
        return pending.tensors().rule(index).answered(datatype, shape, signature);
    }

    /**
     * Makes output {@code index} a tensor in the shape that the client is told; owns {@code hold}, which keeps its
     * memory. Copies only to a region where the bytes are not yet. Throws when the region is too small, the pool
     * exhausted or the tensor cannot be classified.
     */
    public void output(int index, Tensor tensor, Hold hold) {
        RequestedOutput requested = pending.tensors().requestedOutput(index);
        Optional<RegionLease> destination = requested.destination();
        if (destination.isEmpty()) {
            pending.result(index, new OutputTensor(named(index, tensor, tensor.bytes()), false), hold);
        } else {
            try (hold) {
                intoRegion(index, tensor, destination.get());
            }
        }
        classify(index);
    }

    /** Makes output {@code index} a copy of a tensor that cannot be kept, unless in place. Else as {@link #output}. */
    public void outputCopy(int index, Tensor tensor) {
        Optional<RegionLease> destination =
                pending.tensors().requestedOutput(index).destination();
        if (destination.isEmpty()) {
            Buffer copy = pool.copyOf(tensor.bytes());
            pending.result(index, new OutputTensor(named(index, tensor, copy.segment()), false), copy);
        } else {
            intoRegion(index, tensor, destination.get());
        }
        classify(index);
    }

    private void intoRegion(int index, Tensor tensor, RegionLease destination) {
        if (tensor.device().isPresent() && tensor.liesIn(destination)) {
            // A model wrote it where it belongs, and nobody needs to look at it.
            TensorSpec spec = tensor.spec();
            Tensor named = tensor.as(new TensorSpec(outputName(index), spec.datatype(), spec.shape()));
            pending.result(index, new OutputTensor(named, true), null);
            return;
        }
        MemorySegment bytes = tensor.bytes();
        MemorySegment window = RequestErrors.window(outputName(index), destination, bytes.byteSize());
        if (window.address() != bytes.address()) {
            TensorCopy.copy(bytes, window);
        }
        pending.result(index, new OutputTensor(named(index, tensor, window), true), null);
    }

    private Tensor named(int index, Tensor tensor, MemorySegment bytes) {
        TensorSpec spec = tensor.spec();
        return new Tensor(new TensorSpec(outputName(index), spec.datatype(), spec.shape()), bytes);
    }

    private void classify(int index) {
        OutputTensor scores = pending.result(index);
        if (scores != null && pending.tensors().requestedOutput(index).classification() > 0) {
            Classification.apply(pending, index, scores, signature.leadingDims(), pool);
        }
    }

    /** Leaves output {@code index} out. */
    public void leaveOut(int index) {
        pending.leaveOut(outputName(index));
    }

    /** Adds a parameter to the response. */
    public void parameter(String name, ParameterValue value) {
        pending.parameter(name, value);
    }

    /** Puts the request's place in a sequence into the response, as Triton's ensembles do for all requests. */
    public void tellSequence() {
        InferenceRequest request = pending.request();
        ParameterValue id = request.correlationId()
                .<ParameterValue>map(correlation -> switch (correlation) {
                    case CorrelationId.Uint64 number -> new ParameterValue.Int64(number.value());
                    case CorrelationId.Text text -> new ParameterValue.Text(text.value());
                })
                .orElse(NO_SEQUENCE);
        pending.parameter("sequence_id", id);
        pending.parameter("sequence_start", new ParameterValue.Bool(request.sequenceStart()));
        pending.parameter("sequence_end", new ParameterValue.Bool(request.sequenceEnd()));
    }

    /**
     * The response, all of whose outputs are made or left out; ends the use of regions. Throws when one was taken away,
     * and {@link #fail} is still to be called. {@code versionText} is what the client is told.
     */
    public InferenceResponse response(String modelName, String versionText) {
        pending.settle();
        return pending.response(modelName, versionText);
    }

    /** As {@link #response}, for one of several: with outputs left out, and regions kept by the request. */
    public InferenceResponse part(String modelName, String versionText) {
        pending.settle();
        return pending.part(modelName, versionText);
    }

    /** One more response to the same request, which has no output yet either. */
    public ComposedResponse another() {
        return new ComposedResponse(pending.with(List.of()), signature, pool);
    }

    /** Ends the response without giving it; its memory goes back. */
    public void fail(GatunException reason) {
        pending.fail(reason);
    }
}
