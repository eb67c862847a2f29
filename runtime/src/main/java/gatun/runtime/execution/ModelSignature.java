// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.BatchingRule;
import gatun.runtime.RequestedOutput;
import gatun.runtime.execution.OutputRule.InputRule;
import gatun.spi.Datatypes;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelInput;
import gatun.wire.inference.ModelOutput;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The inputs and outputs of an entry point, prepared for checking requests. Immutable. */
final class ModelSignature {
    private final String modelName;
    private final int maxBatchSize;
    private final InputRule[] inputs;
    private final OutputRule[] outputs;
    private final RequestedOutput[] allOutputs;
    private final ClientMemory memory;

    /** For each input whether it is copied out of clients' memory. */
    private final boolean[] copiedInputs;

    private final @Nullable BatchTensors batchTensors;
    private final int requiredInputCount;
    private final boolean decoupled;
    private final List<TensorSpec> inputSpecs;
    private final List<TensorSpec> outputSpecs;
    private final EntryPoint entryPoint;

    /** How requests share runs where the configuration does not say it; null for most models. */
    private final @Nullable BatchingRule rule;

    /** Whether the shapes of inputs and outputs have the batch dimension in front already; only with a rule. */
    private final boolean openShapes;

    /** For a checked configuration, and the lines of the label files by output name. */
    ModelSignature(ModelConfig config, Map<String, List<String>> labels) {
        this(config, labels, null, null, ClientMemory.UNKNOWN);
    }

    /** For a checked configuration; {@code named} is its entry point in the model's files, or null, as the rule. */
    ModelSignature(
            ModelConfig config,
            Map<String, List<String>> labels,
            @Nullable EntryPoint named,
            @Nullable BatchingRule rule,
            ClientMemory memory) {
        modelName = config.getName();
        this.memory = memory;
        this.rule = rule;
        openShapes = rule != null && config.getMaxBatchSize() == 0;
        maxBatchSize = rule != null && (!openShapes || isOpen(config)) ? rule.maxBatchSize() : config.getMaxBatchSize();
        decoupled = config.getModelTransactionPolicy().getDecoupled();
        inputs =
                config.getInputList().stream().map(input -> rule(input, memory)).toArray(InputRule[]::new);
        outputs = config.getOutputList().stream()
                .map(output -> rule(output, labels.getOrDefault(output.getName(), List.of()), named, memory))
                .toArray(OutputRule[]::new);
        copiedInputs = copied(inputs);
        batchTensors = BatchTensors.of(config, outputs);
        allOutputs = config.getOutputList().stream()
                .map(output -> RequestedOutput.of(output.getName()))
                .toArray(RequestedOutput[]::new);
        requiredInputCount = (int) config.getInputList().stream()
                .filter(input -> !input.getOptional())
                .count();
        inputSpecs = config.getInputList().stream()
                .map(input -> spec(input.getName(), input.getDataType(), input.getDimsList()))
                .toList();
        outputSpecs = config.getOutputList().stream()
                .map(output -> spec(output.getName(), output.getDataType(), output.getDimsList()))
                .toList();
        entryPoint = named == null ? EntryPoint.only(inputSpecs, outputSpecs) : named;
    }

    private ModelSignature(ModelSignature first, EntryPoint entryPoint) {
        this.entryPoint = entryPoint;
        modelName = first.modelName;
        memory = first.memory;
        rule = first.rule;
        openShapes = first.openShapes;
        maxBatchSize =
                openShapes ? openBatchSize(entryPoint, rule) : hasBatchDimension(entryPoint) ? first.maxBatchSize : 0;
        decoupled = first.decoupled;
        inputs = entryPoint.inputs().stream().map(this::inputRule).toArray(InputRule[]::new);
        outputs = entryPoint.outputs().stream().map(this::outputRule).toArray(OutputRule[]::new);
        copiedInputs = copied(inputs);
        batchTensors = null;
        allOutputs = entryPoint.outputs().stream()
                .map(output -> RequestedOutput.of(output.spec().name()))
                .toArray(RequestedOutput[]::new);
        requiredInputCount = (int)
                entryPoint.inputs().stream().filter(input -> !input.optional()).count();
        inputSpecs = entryPoint.inputs().stream().map(EntryTensor::spec).toList();
        outputSpecs = entryPoint.outputs().stream().map(EntryTensor::spec).toList();
    }

    /**
     * The same model's other entry point, batched where all tensors leave their first dimension open. Without one the
     * engine judges shapes, of which a model's files tell less than it accepts.
     */
    ModelSignature of(EntryPoint other) {
        return new ModelSignature(this, other);
    }

    /** Whether the entry point is the one that the configuration describes, so that its checks do. */
    boolean isAsNamed() {
        return hasOwnBatchDimension()
                && isAs(entryPoint.inputs(), inputSpecs)
                && isAs(entryPoint.outputs(), outputSpecs)
                && entryPoint.inputs().stream().allMatch(this::mayBeLeftOutAsNamed);
    }

    /** Whether the configuration too lets requests leave out an input that the model has a default for. */
    private boolean mayBeLeftOutAsNamed(EntryTensor input) {
        return !input.optional() || inputs[inputIndex(input.spec().name(), 0)].optional();
    }

    private static boolean isAs(List<EntryTensor> named, List<TensorSpec> described) {
        return named.size() == described.size()
                && named.stream().allMatch(tensor -> !tensor.anyShape() && described.contains(tensor.spec()));
    }

    /** Whether all tensors of a configuration without a batch dimension leave their first dimension open. */
    private static boolean isOpen(ModelConfig config) {
        return config.getInputList().stream().allMatch(input -> !input.hasReshape() && startsOpen(input.getDimsList()))
                && config.getOutputList().stream()
                        .allMatch(output -> !output.hasReshape() && startsOpen(output.getDimsList()));
    }

    private static boolean startsOpen(List<Long> dims) {
        return !dims.isEmpty() && dims.getFirst() == Shape.VARIABLE;
    }

    /** The largest batch of an entry point whose tensors leave their first dimension open; 0 for others. */
    private static int openBatchSize(EntryPoint entryPoint, @Nullable BatchingRule rule) {
        boolean open = Stream.concat(entryPoint.inputs().stream(), entryPoint.outputs().stream())
                .allMatch(tensor -> tensor.anyShape() || firstIsOpen(tensor));
        return open && rule != null ? rule.maxBatchSize() : 0;
    }

    private static boolean firstIsOpen(EntryTensor tensor) {
        Shape shape = tensor.spec().shape();
        return shape.rank() > 0 && shape.dim(0) == Shape.VARIABLE;
    }

    private static boolean hasBatchDimension(EntryPoint entryPoint) {
        return Stream.concat(entryPoint.inputs().stream(), entryPoint.outputs().stream())
                .allMatch(tensor -> !tensor.anyShape() && firstIsOpen(tensor));
    }

    private InputRule inputRule(EntryTensor tensor) {
        TensorSpec spec = tensor.spec();
        return new InputRule(
                spec.name(),
                spec.datatype(),
                withoutBatch(tensor),
                !hasOwnBatchDimension(),
                tensor.optional(),
                null,
                memory.input(spec.name(), spec.datatype()));
    }

    private OutputRule outputRule(EntryTensor tensor) {
        TensorSpec spec = tensor.spec();
        return new OutputRule(
                spec.name(),
                spec.datatype(),
                withoutBatch(tensor),
                !hasOwnBatchDimension(),
                null,
                null,
                List.of(),
                memory.output(spec.name(), spec.datatype()));
    }

    private Shape withoutBatch(EntryTensor tensor) {
        Shape shape = tensor.spec().shape();
        return hasOwnBatchDimension() ? shape.withoutFirst() : shape;
    }

    private static boolean[] copied(InputRule[] rules) {
        boolean[] copied = new boolean[rules.length];
        for (int i = 0; i < copied.length; i++) {
            copied[i] = rules[i].isCopied();
        }
        return copied;
    }

    private static InputRule rule(ModelInput input, ClientMemory memory) {
        Datatype datatype = Datatypes.of(input.getDataType());
        @Nullable
        Reshape reshape = input.hasReshape()
                ? new Reshape(input.getDimsList(), input.getReshape().getShapeList())
                : null;
        return new InputRule(
                input.getName(),
                datatype,
                shape(input.getDimsList()),
                false,
                input.getOptional(),
                reshape,
                memory.input(input.getName(), datatype));
    }

    private static OutputRule rule(
            ModelOutput output, List<String> labels, @Nullable EntryPoint named, ClientMemory memory) {
        Datatype datatype = Datatypes.of(output.getDataType());
        boolean reshapes = output.hasReshape();
        List<Long> backendDims = reshapes ? output.getReshape().getShapeList() : output.getDimsList();
        return new OutputRule(
                output.getName(),
                datatype,
                shape(backendDims),
                false,
                reshapes ? null : described(output, named),
                reshapes ? new Reshape(backendDims, output.getDimsList()) : null,
                labels,
                memory.output(output.getName(), datatype));
    }

    /** The shape that the backend says it gives, where it has other dimensions than the configuration. */
    private static @Nullable Shape described(ModelOutput output, @Nullable EntryPoint named) {
        if (named == null) {
            return null;
        }
        return named.outputs().stream()
                .filter(tensor -> tensor.spec().name().equals(output.getName()) && !tensor.anyShape())
                .map(tensor -> tensor.spec().shape())
                .findFirst()
                .orElse(null);
    }

    private static Shape shape(List<Long> dims) {
        return Shape.of(dims.stream().mapToLong(Long::longValue).toArray());
    }

    private TensorSpec spec(String name, DataType type, List<Long> dims) {
        Shape shape = shape(dims);
        return new TensorSpec(name, Datatypes.of(type), hasOwnBatchDimension() ? shape.prepend(Shape.VARIABLE) : shape);
    }

    /** The entry point as clients see it. */
    EntryPoint entryPoint() {
        return entryPoint;
    }

    String modelName() {
        return modelName;
    }

    /** The largest batch of a request; 0 when requests cannot share a run. */
    int maxBatchSize() {
        return maxBatchSize;
    }

    /** Whether tensors have a batch dimension in front, or {@linkplain #isBatchedByShape may have}. */
    boolean batching() {
        return maxBatchSize > 0;
    }

    /** How many dimensions stand before those of the configuration. */
    int leadingDims() {
        return hasOwnBatchDimension() ? 1 : 0;
    }

    private boolean hasOwnBatchDimension() {
        return maxBatchSize > 0 && !openShapes;
    }

    /** Whether requests have a batch dimension only where their tensors agree in the first one. */
    boolean isBatchedByShape() {
        return maxBatchSize > 0 && openShapes;
    }

    /** Whether the operator's rule decides how requests share runs, and not the configuration. */
    boolean isRuled() {
        return rule != null;
    }

    int runSize(int rows) {
        return rule == null ? rows : rule.runSize(rows);
    }

    /** Whether requests share runs though their tensors differ in other dimensions than the first. */
    boolean padsShapes() {
        return rule != null && rule.padsShapes();
    }

    int inputCount() {
        return inputs.length;
    }

    boolean decoupled() {
        return decoupled;
    }

    int requiredInputCount() {
        return requiredInputCount;
    }

    InputRule input(int index) {
        return inputs[index];
    }

    /** For each input whether it is copied out of clients' memory before the backend sees it; not to be changed. */
    boolean[] copiedInputs() {
        return copiedInputs;
    }

    int outputCount() {
        return outputs.length;
    }

    OutputRule output(int index) {
        return outputs[index];
    }

    /** The ragged inputs of the configuration, and the tensors that depend on them; null for most models. */
    @Nullable
    BatchTensors batchTensors() {
        return batchTensors;
    }

    RequestedOutput wholeOutput(int index) {
        return allOutputs[index];
    }

    /** The names of an output's classes, by index; empty where there are none. */
    List<String> labels(String output) {
        int index = outputIndex(output, 0);
        return index < 0 ? List.of() : outputs[index].labels();
    }

    List<TensorSpec> inputSpecs() {
        return inputSpecs;
    }

    List<TensorSpec> outputSpecs() {
        return outputSpecs;
    }

    /** The input's place in the configuration, or -1; tries {@code hint} first, as most clients keep the order. */
    int inputIndex(String name, int hint) {
        if (hint < inputs.length && inputs[hint].name().equals(name)) {
            return hint;
        }
        for (int i = 0; i < inputs.length; i++) {
            if (inputs[i].name().equals(name)) {
                return i;
            }
        }
        return -1;
    }

    /** The place of an output in the configuration, or -1. */
    int outputIndex(String name, int hint) {
        if (hint < outputs.length && outputs[hint].name().equals(name)) {
            return hint;
        }
        for (int i = 0; i < outputs.length; i++) {
            if (outputs[i].name().equals(name)) {
                return i;
            }
        }
        return -1;
    }
}
