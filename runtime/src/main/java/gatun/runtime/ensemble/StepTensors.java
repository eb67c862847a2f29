// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.RegionLease;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ensemble.EnsemblePlan.EnsembleStep;
import gatun.runtime.execution.ServedModel;
import gatun.runtime.execution.SharedHolds;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The tensors so far of steps that belong together, and which can run. Guarded by the run's lock. */
final class StepTensors {
    private final EnsembleRun run;
    private final EnsemblePlan plan;

    /** The member whose response they are for, or {@link ResponseStreams#NONE}. */
    private final int stream;

    /** Whether others run behind these steps, once for each response of a member, and read the same tensors. */
    private final boolean readBehind;

    private final @Nullable EnsembleTensor[] tensors;
    private final int[] missingInputs;
    private final List<EnsembleTensor> made = new ArrayList<>();
    private int missingOutputs;

    /** {@code readBehind}: a step is a decoupled member, behind which others read the same tensors. */
    StepTensors(EnsembleRun run, EnsemblePlan plan, int stream, boolean readBehind, int wantedCount) {
        this.run = run;
        this.plan = plan;
        this.stream = stream;
        this.readBehind = readBehind;
        missingOutputs = wantedCount;
        tensors = new EnsembleTensor[plan.tensorCount()];
        missingInputs = new int[plan.steps().size()];
        for (EnsembleStep step : plan.steps()) {
            missingInputs[step.index()] = step.inputs().size();
        }
    }

    StepTensors(StepTensors outer, int stream, boolean readBehind) {
        run = outer.run;
        plan = outer.plan;
        this.stream = stream;
        this.readBehind = readBehind;
        missingOutputs = outer.missingOutputs;
        tensors = outer.tensors.clone();
        missingInputs = outer.missingInputs.clone();
    }

    boolean isAnswerComplete() {
        return missingOutputs == 0;
    }

    /** An input of the ensemble; to be {@link #put} in its place. */
    EnsembleTensor fromRequest(RequestInputs inputs, int number) {
        Optional<Tensor> input = inputs.find(plan.tensorName(number));
        if (input.isEmpty()) {
            return made(EnsembleTensor.absent());
        }
        Optional<RegionLease> region = inputs.region(input.get());
        return made(
                inputs.owned() && region.isEmpty()
                        ? owned(number, input.get(), inputs.memory())
                        : EnsembleTensor.borrowed(input.get(), region));
    }

    /** A member's output, absent if left out, to be {@link #put} in place; the maker releases {@code memory}. */
    EnsembleTensor fromMember(EnsembleStep.MappedTensor mapped, InferenceResponse response, SharedHolds memory) {
        for (OutputTensor output : response.outputs()) {
            if (output.tensor().spec().name().equals(mapped.name())) {
                return made(owned(mapped.tensor(), output.tensor(), memory));
            }
        }
        return made(EnsembleTensor.absent());
    }

    private EnsembleTensor owned(int number, Tensor tensor, SharedHolds memory) {
        boolean readLater = run.isWanted(number) && readBehind;
        for (int consumer : plan.consumers(number)) {
            readLater |= run.isNeeded(consumer) && !run.isOf(consumer, stream);
        }
        return readLater
                ? EnsembleTensor.kept(tensor, memory)
                : EnsembleTensor.owned(tensor, memory, run.readers(number));
    }

    /** Notes a tensor as one whose memory goes back with these steps. */
    private EnsembleTensor made(EnsembleTensor tensor) {
        made.add(tensor);
        return tensor;
    }

    /** Puts a tensor in its place; those of these steps that waited for nothing else. */
    List<EnsembleStep> put(int number, EnsembleTensor tensor) {
        tensors[number] = tensor;
        if (run.isWanted(number)) {
            missingOutputs--;
        }
        List<EnsembleStep> possible = new ArrayList<>();
        for (int consumer : plan.consumers(number)) {
            missingInputs[consumer]--;
            if (missingInputs[consumer] == 0 && run.isNeeded(consumer) && run.isOf(consumer, stream)) {
                possible.add(plan.steps().get(consumer));
            }
        }
        return possible;
    }

    void give(EnsembleStep step, ServedModel member, InferenceRequest request) {
        for (EnsembleStep.MappedTensor mapped : step.inputs()) {
            find(mapped.tensor()).ifPresent(source -> source.tensor()
                    .ifPresent(tensor -> addInput(request, member, mapped.name(), source, tensor)));
        }
    }

    private static void addInput(
            InferenceRequest request, ServedModel member, String name, EnsembleTensor source, Tensor tensor) {
        request.hold(source.claim().orElseGet(() -> new BorrowedMemory(tensor, source.region())));
        request.addInput(tensor.as(new TensorSpec(
                name,
                tensor.spec().datatype(),
                TensorShapes.fit(
                        tensor.spec().shape(),
                        name,
                        member.inputs(),
                        member.config().getMaxBatchSize() > 0))));
    }

    /** A tensor that is there; empty when it was left out, too. */
    Optional<EnsembleTensor> find(int number) {
        return Optional.ofNullable(tensors[number])
                .filter(tensor -> tensor.tensor().isPresent());
    }

    /** Gives up the memory that no step and no response took over; no step runs any more. */
    void release() {
        made.forEach(EnsembleTensor::release);
    }

    /**
     * Tells a member that an input's memory is not its to keep: the ensemble's own request keeps it valid until all
     * members have answered, by {@code lease} where it is a client's region.
     */
    record BorrowedMemory(Tensor tensor, Optional<RegionLease> lease) implements RegionLease {
        @Override
        public MemorySegment segment() {
            return tensor.bytes();
        }

        @Override
        public Optional<DeviceMemory> device() {
            return tensor.device();
        }

        @Override
        public long byteSize() {
            return tensor.byteSize();
        }

        @Override
        public void settle() {
            lease.ifPresent(RegionLease::settle);
        }

        @Override
        public void close() {
            // The ensemble's request owns the claim.
        }
    }

    /** Passes shapes between models that name the batch dimension and models that do not. */
    static final class TensorShapes {
        private TensorShapes() {}

        /** {@code shape} with a batch of one added or removed as the model expects; others are left to the model. */
        static Shape fit(Shape shape, String name, List<TensorSpec> expected, boolean batching) {
            for (int i = 0; i < expected.size(); i++) {
                TensorSpec spec = expected.get(i);
                if (spec.name().equals(name)) {
                    return fit(shape, spec.shape().rank(), batching);
                }
            }
            return shape;
        }

        /** The same for a tensor of {@code rank} dimensions, the first of which is the batch's if {@code batching}. */
        static Shape fit(Shape shape, int rank, boolean batching) {
            if (batching && shape.rank() == rank - 1) {
                return shape.prepend(1);
            }
            if (!batching && shape.rank() == rank + 1 && shape.dim(0) == 1) {
                return shape.withoutFirst();
            }
            return shape;
        }
    }
}
