package gatun.v1;

import gatun.memory.GatunException;
import gatun.memory.Shape;
import gatun.memory.Tensor;
import gatun.protocol.v1.InferRequestHeader;
import gatun.protocol.v1.InferResponseHeader;
import gatun.runtime.InferenceResponse;
import gatun.runtime.ModelVersion;
import gatun.runtime.OutputTensor;
import gatun.runtime.Ranking;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * An inference's answer as v1 tells it. The raw data belongs to the response that this was made of.
 *
 * @param header what stands beside the raw data, classes included
 * @param raw for each output in the header's order its data; empty for one that is classified or in shared memory
 */
public record InferAnswer(InferResponseHeader header, List<MemorySegment> raw) {
    /** Keeps a copy of the list. */
    public InferAnswer {
        raw = List.copyOf(raw);
    }

    /**
     * The answer to {@code asked}. The caller still owns the response.
     *
     * @param model what was asked
     * @throws GatunException INVALID_ARGUMENT when the classes of an output are wanted whose elements have no order
     */
    public static InferAnswer of(InferRequestHeader asked, ModelVersion model, InferenceResponse response) {
        int leadingDims = model.config().getMaxBatchSize() > 0 ? 1 : 0;
        InferResponseHeader.Builder header = InferResponseHeader.newBuilder()
                .setId(asked.getId())
                .setModelName(response.modelName())
                .setModelVersion(Long.parseLong(response.modelVersion()))
                .setBatchSize(asked.getBatchSize());
        MemorySegment[] raw = new MemorySegment[asked.getOutputCount()];
        for (int i = 0; i < raw.length; i++) {
            OutputTensor output = response.outputs().get(i);
            Tensor tensor = output.tensor();
            InferResponseHeader.Output.Builder told =
                    header.addOutputBuilder().setName(tensor.spec().name());
            raw[i] = MemorySegment.NULL;
            if (isClassified(asked.getOutput(i))) {
                addClasses(told, asked.getOutput(i), tensor, leadingDims, model);
                continue;
            }
            InferResponseHeader.Output.Raw.Builder form = told.getRawBuilder().setBatchByteSize(tensor.byteSize());
            Shape shape = tensor.spec().shape();
            for (int dim = leadingDims; dim < shape.rank(); dim++) {
                form.addDims(shape.dim(dim));
            }
            if (!output.inSharedMemory()) {
                raw[i] = tensor.bytes();
            }
        }
        return new InferAnswer(header.build(), List.of(raw));
    }

    /** Whether a client wants the best classes of an output, and not the output. */
    static boolean isClassified(InferRequestHeader.Output output) {
        return output.getCls().getCount() != 0;
    }

    private static void addClasses(
            InferResponseHeader.Output.Builder told,
            InferRequestHeader.Output asked,
            Tensor scores,
            int leadingDims,
            ModelVersion model) {
        Ranking ranking = Ranking.of(scores, leadingDims);
        // The count is unsigned: more than there can be is as good as all.
        int count = Math.min(asked.getCls().getCount() & Integer.MAX_VALUE, ranking.classes());
        if (asked.getCls().getCount() < 0) {
            count = ranking.classes();
        }
        List<String> labels = model.labels(asked.getName());
        for (int item = 0; item < ranking.items(); item++) {
            InferResponseHeader.Output.Classes.Builder classes = told.addBatchClassesBuilder();
            for (int index : ranking.largest(item, count)) {
                classes.addClsBuilder()
                        .setIdx(index)
                        .setValue(ranking.toFloat(item, index))
                        .setLabel(index < labels.size() ? labels.get(index) : "");
            }
        }
    }
}
