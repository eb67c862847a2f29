// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.BatchingRule;
import gatun.runtime.InferenceRequest;
import gatun.runtime.Ranking;
import gatun.runtime.RequestedOutput;
import gatun.runtime.execution.OutputRule.InputRule;
import gatun.spi.EntryPoint;
import gatun.wire.tensorflow.SignatureDef;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Checks requests to one model, and puts their tensors in its order. The first fault decides. Immutable. */
final class RequestCheck {
    private final ModelSignature signature;
    private final OutputRule[] allRules;
    private final RequestedOutput[] allOutputs;
    private final Map<String, RequestCheck> others;

    RequestCheck(ModelSignature signature) {
        this(signature, List.of());
    }

    /** Checks requests to a model; {@code others} are its entry points beside the configuration's own. */
    RequestCheck(ModelSignature signature, List<ModelSignature> others) {
        this.signature = signature;
        this.others = others.stream()
                .collect(
                        Collectors.toUnmodifiableMap(other -> other.entryPoint().name(), RequestCheck::new));
        allRules = new OutputRule[signature.outputCount()];
        allOutputs = new RequestedOutput[signature.outputCount()];
        for (int i = 0; i < allRules.length; i++) {
            allRules[i] = signature.output(i);
            allOutputs[i] = signature.wholeOutput(i);
        }
    }

    /** The request as an instance runs it. Throws INVALID_ARGUMENT with the protocol's text. */
    PendingInference pending(InferenceRequest request, long arrivedNanos) {
        String entryPoint = request.entryPoint();
        if (entryPoint.isEmpty()) {
            return checked(request, arrivedNanos);
        }
        RequestCheck other = others.get(entryPoint);
        if (other == null) {
            if (entryPoint.equals(signature.entryPoint().name())) {
                return checked(request, arrivedNanos);
            }
            throw RequestErrors.unknownEntryPoint(request, signature.modelName());
        }
        return other.checked(request, arrivedNanos);
    }

    private PendingInference checked(InferenceRequest request, long arrivedNanos) {
        RequestedOutput[] requestedOutputs = allOutputs;
        OutputRule[] rules = allRules;
        List<RequestedOutput> named = request.outputs();
        if (!named.isEmpty()) {
            requestedOutputs = new RequestedOutput[named.size()];
            for (int i = 0; i < requestedOutputs.length; i++) {
                // Classes are made of scores, which no client may change meanwhile.
                requestedOutputs[i] =
                        named.get(i).classification() > 0 ? named.get(i).withoutDestination() : named.get(i);
            }
            rules = rules(request, requestedOutputs);
        }
        Tensor[] inputs = inOrder(request);
        int batchSize = batchSize(request);
        for (int i = 0; i < inputs.length; i++) {
            // Only models with optional inputs have gaps, and gaps that may not be were refused.
            if (inputs[i] != null) {
                inputs[i] = checked(request, signature.input(i), inputs[i]);
            }
        }
        return new PendingInference(
                request,
                arrivedNanos,
                batchSize,
                new RequestTensors(withoutGaps(inputs, request), copied(inputs, request), requestedOutputs, rules),
                signature);
    }

    private OutputRule[] rules(InferenceRequest request, RequestedOutput[] requestedOutputs) {
        OutputRule[] rules = new OutputRule[requestedOutputs.length];
        for (int i = 0; i < requestedOutputs.length; i++) {
            int index = signature.outputIndex(requestedOutputs[i].name(), i);
            if (index < 0) {
                RequestErrors.refuseDuplicates(request);
                throw RequestErrors.unexpectedOutput(requestedOutputs[i].name(), request, signature.modelName());
            }
            rules[i] = signature.output(index);
            for (int j = 0; j < i; j++) {
                if (requestedOutputs[j].name().equals(requestedOutputs[i].name())) {
                    throw RequestErrors.duplicate(request, "output", requestedOutputs[i].name());
                }
            }
            if (requestedOutputs[i].classification() > 0) {
                Ranking.requireSupported(rules[i].datatype());
            }
        }
        return rules;
    }

    /** The inputs at their places in the configuration; null where an optional one is left out. */
    private Tensor[] inOrder(InferenceRequest request) {
        List<Tensor> given = request.inputs();
        int count = given.size();
        if (count > signature.inputCount() || count < signature.requiredInputCount()) {
            RequestErrors.refuseDuplicates(request);
            throw RequestErrors.wrongInputCount(request, signature);
        }
        Tensor[] ordered = new Tensor[signature.inputCount()];
        for (int i = 0; i < count; i++) {
            Tensor tensor = given.get(i);
            int index = signature.inputIndex(tensor.spec().name(), i);
            if (index < 0) {
                RequestErrors.refuseDuplicates(request);
                throw RequestErrors.unexpectedInput(tensor.spec().name(), signature);
            }
            if (ordered[index] != null) {
                throw RequestErrors.duplicate(request, "input", tensor.spec().name());
            }
            ordered[index] = tensor;
        }
        if (count < ordered.length) {
            for (int i = 0; i < ordered.length; i++) {
                if (ordered[i] == null && !signature.input(i).optional()) {
                    throw RequestErrors.wrongInputCount(request, signature);
                }
            }
        }
        return ordered;
    }

    private static Tensor[] withoutGaps(Tensor[] ordered, InferenceRequest request) {
        int count = request.inputs().size();
        if (count == ordered.length) {
            return ordered;
        }
        Tensor[] present = new Tensor[count];
        int next = 0;
        for (Tensor tensor : ordered) {
            if (tensor != null) {
                present[next++] = tensor;
            }
        }
        return present;
    }

    /** For each input that is there whether it is copied out of clients' memory. */
    private boolean[] copied(Tensor[] ordered, InferenceRequest request) {
        boolean[] all = signature.copiedInputs();
        int count = request.inputs().size();
        if (count == ordered.length) {
            return all;
        }
        boolean[] present = new boolean[count];
        int next = 0;
        for (int i = 0; i < ordered.length; i++) {
            if (ordered[i] != null) {
                present[next++] = all[i];
            }
        }
        return present;
    }

    /** The batch size that all inputs agree on; 0 when the model has no batch dimension. */
    private int batchSize(InferenceRequest request) {
        if (!signature.batching()) {
            return 0;
        }
        if (signature.isBatchedByShape()) {
            return sharedRows(request);
        }
        List<Tensor> given = request.inputs();
        long batchSize = -1;
        for (int i = 0; i < given.size(); i++) {
            TensorSpec spec = given.get(i).spec();
            if (spec.shape().rank() == 0) {
                throw RequestErrors.noBatchDimension(request, spec.name(), signature.modelName());
            }
            long first = spec.shape().dim(0);
            if (i == 0) {
                batchSize = first;
            } else if (first != batchSize) {
                throw RequestErrors.batchSizesDiffer(request, spec.name(), signature.modelName());
            }
        }
        if (given.isEmpty()) {
            return 1;
        }
        if (batchSize > signature.maxBatchSize()) {
            throw signature.isRuled()
                    ? RequestErrors.taskTooLarge(batchSize, signature.maxBatchSize())
                    : RequestErrors.batchTooLarge(request, batchSize, signature.maxBatchSize(), signature.modelName());
        }
        if (batchSize == 0) {
            throw RequestErrors.batchEmpty(request, signature.modelName());
        }
        return (int) batchSize;
    }

    /** The first dimension of all inputs; 0 where they have none in common, and the request runs alone. */
    private int sharedRows(InferenceRequest request) {
        List<Tensor> given = request.inputs();
        long rows = 0;
        for (int i = 0; i < given.size(); i++) {
            Shape shape = given.get(i).spec().shape();
            if (shape.rank() == 0 || (i > 0 && shape.dim(0) != rows)) {
                return 0;
            }
            rows = shape.dim(0);
        }
        if (rows > signature.maxBatchSize()) {
            throw RequestErrors.taskTooLarge(rows, signature.maxBatchSize());
        }
        return (int) Math.max(0, rows);
    }

    private Tensor checked(InferenceRequest request, InputRule rule, Tensor input) {
        TensorSpec spec = input.spec();
        Shape shape = rule.anyShape() ? spec.shape() : rule.ownForm(spec.shape(), signature.leadingDims());
        if (spec.datatype() != rule.datatype()) {
            throw RequestErrors.wrongDatatype(request, spec, rule, signature.modelName());
        }
        int leading = signature.leadingDims();
        Shape dims = rule.dims();
        boolean fits = rule.anyShape() || shape.rank() == dims.rank() + leading;
        for (int i = 0; i < shape.rank(); i++) {
            long dim = shape.dim(i);
            if (dim < 0) {
                throw RequestErrors.unspecifiedDimension(request, spec, signature.modelName());
            }
            fits &= i < leading
                    || !fits
                    || rule.anyShape()
                    || dims.dim(i - leading) == Shape.VARIABLE
                    || dims.dim(i - leading) == dim;
        }
        if (!fits) {
            throw RequestErrors.wrongShape(request, spec, dims, signature);
        }
        checkBytes(request, input);
        Reshape reshape = rule.reshape();
        Shape taken = reshape == null ? shape : reshape.apply(shape, leading);
        return taken.equals(spec.shape()) ? input : input.as(new TensorSpec(spec.name(), spec.datatype(), taken));
    }

    private void checkBytes(InferenceRequest request, Tensor input) {
        TensorSpec spec = input.spec();
        long elementCount = spec.shape().elementCount();
        long expected = spec.shape().byteSize(spec.datatype());
        if (elementCount == Shape.OVERFLOW || expected == Shape.OVERFLOW) {
            throw RequestErrors.tooManyElements(request, spec, signature.modelName());
        }
        if (spec.datatype() != Datatype.BYTES) {
            if (input.byteSize() != expected) {
                throw RequestErrors.wrongByteSize(request, input, expected, signature.modelName());
            }
            return;
        }
        BytesCodec.Check outcome = BytesCodec.check(input.bytes(), elementCount);
        if (outcome != BytesCodec.Check.Complete.COMPLETE) {
            throw RequestErrors.wrongStrings(request, spec.name(), signature.modelName(), elementCount, outcome);
        }
    }

    /** The entry points of a model version, and how requests to them are checked. Immutable. */
    static final class EntryPoints {
        private final ModelSignature signature;
        private final RequestCheck check;
        private final SequencedMap<String, EntryPoint> byName = new LinkedHashMap<>();
        private final Map<String, SignatureDef> described;

        private EntryPoints(
                ModelSignature signature, List<ModelSignature> others, Map<String, SignatureDef> described) {
            this.described = described;
            this.signature = signature;
            check = new RequestCheck(signature, others);
            byName.put(signature.entryPoint().name(), signature.entryPoint());
            others.forEach(other -> byName.put(other.entryPoint().name(), other.entryPoint()));
        }

        /** Those that the backend of {@code definition} has; sequences and computed inputs have the first only. */
        static EntryPoints of(
                VersionDefinition definition, @Nullable BatchingRule rule, boolean sequences, ClientMemory memory) {
            List<EntryPoint> all = definition.backend().entryPoints();
            ModelSignature first = new ModelSignature(
                    definition.config(), definition.labels(), all.isEmpty() ? null : all.getFirst(), rule, memory);
            boolean onlyFirst = sequences || first.batchTensors() != null;
            return new EntryPoints(
                    first,
                    onlyFirst
                            ? List.of()
                            : all.stream()
                                    .skip(first.isAsNamed() ? 1 : 0)
                                    .map(first::of)
                                    .toList(),
                    definition.backend().signatures());
        }

        /** The signature of the entry point that requests without a name get. */
        ModelSignature signature() {
            return signature;
        }

        RequestCheck check() {
            return check;
        }

        Map<String, SignatureDef> described() {
            return described;
        }

        /** By name, the first for requests without a name. */
        SequencedMap<String, EntryPoint> byName() {
            return Collections.unmodifiableSequencedMap(byName);
        }
    }
}
