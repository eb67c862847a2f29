// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorCopy;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;

/** The wanted outputs of a batch, one tensor each, and their shares. Used by the instance's thread only. */
final class ScatteredOutputs {
    private final Run run;
    private final BufferPool pool;
    private final List<PendingInference> requests;

    /** The objects that serve the outputs of each entry point; kept, since each run would otherwise make them anew. */
    private final Map<ModelSignature, ScatteredOutput[]> known = new HashMap<>();

    private final Predicate<OutputRule> offered;
    private final List<OutputRule> rules = new ArrayList<>();
    private final List<ScatteredOutput> outputs = new ArrayList<>();
    private ModelSignature signature;
    private ScatteredOutput[] all;
    private int rows;

    /** @param requests the requests of each run, in their order; changed by its owner between runs */
    ScatteredOutputs(
            Run run,
            BufferPool pool,
            ModelSignature signature,
            List<PendingInference> requests,
            Predicate<OutputRule> offered) {
        this.run = run;
        this.pool = pool;
        this.requests = requests;
        this.offered = offered;
        this.signature = signature;
        all = known.computeIfAbsent(signature, this::outputsOf);
    }

    private ScatteredOutput[] outputsOf(ModelSignature entryPoint) {
        ScatteredOutput[] scattered = new ScatteredOutput[entryPoint.outputCount()];
        for (int i = 0; i < scattered.length; i++) {
            scattered[i] = new ScatteredOutput(entryPoint.output(i), entryPoint, pool, requests);
        }
        return scattered;
    }

    @SuppressWarnings("ReferenceEquality") // a model has one signature for each entry point
    void begin(ModelSignature entryPoint, int runRows) {
        rows = runRows;
        if (entryPoint != signature) {
            signature = entryPoint;
            all = known.computeIfAbsent(entryPoint, this::outputsOf);
        }
        for (int i = 0; i < signature.outputCount(); i++) {
            OutputRule rule = signature.output(i);
            if (offered.test(rule) && isWanted(rule)) {
                rules.add(rule);
                outputs.add(all[i]);
            }
        }
    }

    private boolean isWanted(OutputRule rule) {
        for (PendingInference pending : requests) {
            if (pending.tensors().indexOf(rule) >= 0) {
                return true;
            }
        }
        return false;
    }

    int count() {
        return rules.size();
    }

    String name(int index) {
        return rules.get(index).name();
    }

    MemorySegment memory(int index, Datatype datatype, Shape shape, long byteSize) {
        check(rules.get(index), datatype, shape, byteSize);
        try {
            return outputs.get(index).memory(shape, byteSize);
        } catch (GatunException e) {
            throw run.refuse(e);
        }
    }

    /** Whether all requests that want output {@code index} want it in memory of the GPU of {@code transfers}. */
    boolean isForDevice(int index, DeviceTransfers transfers) {
        return index < rules.size() && outputs.get(index).isForDevice(transfers);
    }

    /** As {@link #memory}, on the GPU that {@link #isForDevice} asked for. */
    DeviceMemory deviceMemory(int index, Datatype datatype, Shape shape, long byteSize, DeviceTransfers transfers) {
        check(rules.get(index), datatype, shape, byteSize);
        return outputs.get(index).deviceMemory(shape, byteSize, transfers);
    }

    void fromInput(int index, int input, Datatype datatype, Shape shape) {
        check(rules.get(index), datatype, shape);
        outputs.get(index).fromInput(input, shape);
    }

    private void check(OutputRule rule, Datatype datatype, Shape shape, long byteSize) {
        check(rule, datatype, shape);
        rule.requireSize(datatype, shape, byteSize, signature);
    }

    /** Throws INTERNAL when an output of the whole batch contradicts the configuration. */
    private void check(OutputRule rule, Datatype datatype, Shape shape) {
        BatchTensors batchTensors = signature.batchTensors();
        if (!signature.batching()) {
            rule.answered(datatype, shape, signature);
            rule.requireShape(shape, 0, signature);
        } else if (batchTensors != null && batchTensors.scattered(rule.name()) != null) {
            rule.requireDatatype(datatype, signature);
        } else {
            rule.answered(datatype, shape, signature);
            requireRows(rule, shape);
            rule.requireShape(shape, rows, signature);
        }
    }

    private void requireRows(OutputRule rule, Shape shape) {
        if (shape.rank() == 0 || shape.dim(0) != rows) {
            throw new GatunException(
                    ErrorCode.INTERNAL,
                    "unexpected shape " + shape + " for inference output '" + rule.name() + "' of model '"
                            + signature.modelName() + "': expected " + rows
                            + " in front, the batch size of all requests that run together");
        }
    }

    /** Gives the requests that want {@code rule} a copy of {@code given}, which is used for something else too. */
    void shareCopy(OutputRule rule, Tensor given) {
        if (!isWanted(rule)) {
            return;
        }
        ScatteredOutput copy = new ScatteredOutput(rule, signature, pool, requests);
        try {
            TensorCopy.copy(
                    given.bytes(),
                    copy.memory(given.spec().shape(), given.bytes().byteSize()));
            copy.shareOut();
        } finally {
            copy.close();
        }
    }

    void shareOut() {
        outputs.forEach(ScatteredOutput::shareOut);
    }

    /** As {@link #shareOut}, of the outputs that were made. */
    void shareMade() {
        for (ScatteredOutput output : outputs) {
            if (output.isMade()) {
                output.shareOut();
            }
        }
    }

    /** Lets go of the memory of the outputs; the requests keep what they got of it. */
    void close() {
        outputs.forEach(ScatteredOutput::close);
    }

    void clear() {
        close();
        outputs.clear();
        rules.clear();
    }
}
