// SPDX-License-Identifier: Apache-2.0
package gatun.v1;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.runtime.ModelVersion;
import gatun.runtime.Ranking;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.wire.v1.InferRequestHeader;
import gatun.wire.v1.InferResponseHeader;
import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * The response to an inference in v1's form. The raw data belongs to the response that this was made of. Closed by its
 * owner when it has been sent.
 *
 * @param header the response without the raw data, classes included
 * @param raw for each output in the header's order its data; empty for one that is classified or in shared memory
 * @param heap the heap that is reserved for the classes
 */
public record V1InferResponse(InferResponseHeader header, List<MemorySegment> raw, Hold heap) implements AutoCloseable {
    /** A class's heap: in the message and in its text, which is in a header and behind the data. */
    private static final int CLASS_HEAP = 512;

    /** The heap that a character of a label takes, likewise. */
    private static final int LABEL_CHAR_HEAP = 8;

    /** Keeps a copy of the list. */
    public V1InferResponse {
        raw = List.copyOf(raw);
    }

    /**
     * The response to {@code asked}. The caller still owns the response, but for its windows in clients' regions.
     *
     * @param model the model of the request
     * @param budget the heap that classes take is reserved of it before they are made
     * @throws GatunException INVALID_ARGUMENT when the classes of an output are wanted whose elements have no order,
     *     RESOURCE_EXHAUSTED when more classes are wanted than there could be heap for, UNAVAILABLE when others have
     *     taken it
     */
    public static V1InferResponse of(
            InferRequestHeader asked, ModelVersion model, InferenceResponse response, HeapBudget budget) {
        int leadingDims = model.config().getMaxBatchSize() > 0 ? 1 : 0;
        Hold heap = budget.reserve(classesHeap(asked, model, response, leadingDims));
        try {
            return of(asked, model, response, leadingDims, heap);
        } catch (Throwable t) {
            heap.close();
            throw t;
        }
    }

    private static long classesHeap(
            InferRequestHeader asked, ModelVersion model, InferenceResponse response, int leadingDims) {
        long byteSize = 0;
        for (int i = 0; i < asked.getOutputCount(); i++) {
            InferRequestHeader.Output output = asked.getOutput(i);
            if (isClassified(output)) {
                Ranking ranking = Ranking.of(response.outputs().get(i).tensor(), leadingDims);
                int longestLabel = 0;
                for (String label : model.labels(output.getName())) {
                    longestLabel = Math.max(longestLabel, label.length());
                }
                byteSize += (long) ranking.items()
                        * count(output, ranking)
                        * (CLASS_HEAP + (long) LABEL_CHAR_HEAP * longestLabel);
            }
        }
        return byteSize;
    }

    /** The number of classes for each item, unsigned: more than there can be means all. */
    private static int count(InferRequestHeader.Output asked, Ranking ranking) {
        int wanted = asked.getCls().getCount();
        return wanted < 0 ? ranking.classes() : Math.min(wanted, ranking.classes());
    }

    private static V1InferResponse of(
            InferRequestHeader asked, ModelVersion model, InferenceResponse response, int leadingDims, Hold heap) {
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
        response.releaseRegions();
        return new V1InferResponse(header.build(), List.of(raw), heap);
    }

    /** Gives back the heap that is reserved for the classes. */
    @Override
    public void close() {
        heap.close();
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
        int count = count(asked, ranking);
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
