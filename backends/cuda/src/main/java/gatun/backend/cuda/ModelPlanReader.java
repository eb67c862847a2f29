// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.backend.cuda.ModelPlan.Argument;
import gatun.backend.cuda.ModelPlan.KernelPlan;
import gatun.backend.cuda.Parameters.Parameter;
import gatun.backend.cuda.TensorTable.Entry;
import gatun.backend.cuda.TensorTable.Kind;
import gatun.backend.cuda.Tokens.Token;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.wire.inference.ModelConfig;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** Reads a model's kernel parameters, and refuses visible mistakes. For one model, at load. */
final class ModelPlanReader {
    /** Lists the kernels, in the order of their launches. */
    static final String KERNELS = "kernels";

    private static final String SCRATCH = "scratch";
    private static final String SHAPE = "shape";

    private final ModelConfig config;
    private final Parameters parameters;
    private final boolean batching;
    private final TensorTable tensors;

    private ModelPlanReader(ModelConfig config) {
        this.config = config;
        parameters = new Parameters(config);
        batching = config.getMaxBatchSize() > 0;
        tensors = ConfiguredTensors.of(config);
    }

    /** The plan of the model. Throws INVALID_ARGUMENT with parameter, place, what is there and what is expected. */
    static ModelPlan read(ModelConfig config) {
        return new ModelPlanReader(config).read();
    }

    private ModelPlan read() {
        List<String> names = kernelNames();
        List<List<Formula>> outputShapes = outputShapes();
        List<Formula> scratchBytes = scratchBytes();
        List<KernelPlan> kernels = names.stream()
                .map(name -> new KernelReader(parameters, tensors, name).read())
                .toList();
        refuseUnknownParameters(names);
        refuseUnusedTensors(kernels);
        return new ModelPlan(tensors, batching, outputShapes, scratchBytes, kernels);
    }

    private List<String> kernelNames() {
        Tokens tokens = new Tokens(parameters.require(
                KERNELS, "the names of the kernels in the order of their launches, such as \"a, b\""));
        List<String> names = new ArrayList<>();
        do {
            Token name = tokens.take();
            if (name.kind() != Token.Kind.NAME) {
                throw tokens.refused(name, "the name of a kernel: letters, digits and _");
            }
            if (name.text().equals(SCRATCH) || name.text().equals(SHAPE)) {
                throw tokens.refused(
                        name,
                        "another name, since parameters that begin with '" + name.text()
                                + ".' are of tensors; the name in the file may differ, by parameter '<name>.function'");
            }
            names.add(name.text());
        } while (tokens.takeIf(','));
        if (tokens.peek().kind() != Token.Kind.END) {
            throw tokens.refused(tokens.peek(), "',' and the next kernel, or the end");
        }
        return names;
    }

    private List<List<Formula>> outputShapes() {
        for (Parameter parameter : parameters.startingWith(SHAPE + ".")) {
            String name = parameter.key().substring(SHAPE.length() + 1);
            if (tensors.find(name).filter(entry -> entry.kind() == Kind.OUTPUT).isEmpty()) {
                throw parameter.refused(
                        "the model has no output '" + name + "', expected one of " + tensors.names(Kind.OUTPUT));
            }
        }
        return tensors.all(Kind.OUTPUT).stream().map(this::outputShape).toList();
    }

    private List<Formula> outputShape(Entry output) {
        Shape configured = output.shape().orElseThrow();
        Optional<Parameter> parameter = parameters.find(SHAPE + "." + output.name());
        if (parameter.isEmpty()) {
            return fixedShape(output, configured);
        }
        Tokens tokens = new Tokens(parameter.orElseThrow());
        ExpressionParser parser = new ExpressionParser(tokens, tensors, EnumSet.of(Kind.INPUT));
        List<Formula> dims = new ArrayList<>();
        do {
            Token first = tokens.peek();
            Formula dim = parser.formula();
            if (dims.size() < configured.rank()) {
                checkDimension(tokens, first, dim.expression(), configured, dims.size());
            }
            dims.add(dim);
        } while (tokens.takeIf(','));
        if (dims.size() != configured.rank()) {
            throw tokens.parameter()
                    .refused("found " + dims.size() + " dimensions, expected " + configured.rank() + ": the shape of '"
                            + output.name() + "' is " + configured
                            + (batching ? ", whose first dimension is that of the batch" : ""));
        }
        return List.copyOf(dims);
    }

    private void checkDimension(Tokens tokens, Token first, Expression dim, Shape configured, int index) {
        boolean ofBatch = batching && index == 0;
        if (!(dim instanceof Expression.Constant constant)) {
            return;
        }
        long value = constant.value();
        long expected = configured.dim(index);
        if (value < 0 || (expected != Shape.VARIABLE && value != expected) || ofBatch) {
            throw tokens.parameter()
                    .refused(
                            first.begin(),
                            String.valueOf(value),
                            ofBatch
                                    ? "batch, since the first dimension is that of the batch"
                                    : expected == Shape.VARIABLE
                                            ? "0 or more"
                                            : expected + ", which the configuration's dims say");
        }
    }

    private List<Formula> fixedShape(Entry output, Shape configured) {
        List<Formula> dims = new ArrayList<>();
        for (int i = 0; i < configured.rank(); i++) {
            boolean ofBatch = batching && i == 0;
            if (configured.dim(i) == Shape.VARIABLE && !ofBatch) {
                throw new Parameter(config.getName(), SHAPE + "." + output.name(), "")
                        .refused("it is missing; expected an expression for each dimension of '" + output.name()
                                + "', whose shape " + configured + " is variable, such as \""
                                + (batching ? "batch, " : "")
                                + "dim(" + tensors.all(Kind.INPUT).getFirst().name() + ", " + (batching ? 1 : 0)
                                + ")\"");
            }
            dims.add(
                    ofBatch
                            ? new Formula("dims", "batch", new Expression.Batch())
                            : new Formula(
                                    "dims",
                                    String.valueOf(configured.dim(i)),
                                    new Expression.Constant(configured.dim(i))));
        }
        return List.copyOf(dims);
    }

    private List<Formula> scratchBytes() {
        List<Formula> sizes = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (Parameter parameter : parameters.startingWith(SCRATCH + ".")) {
            String name = parameter.key().substring(SCRATCH.length() + 1);
            if (name.isEmpty() || tensors.find(name).isPresent()) {
                throw parameter.refused("found '" + name
                        + "' for the name of scratch memory, expected one that is no input's or output's of "
                        + tensors.names());
            }
            Tokens tokens = new Tokens(parameter);
            Token first = tokens.peek();
            Formula size = new ExpressionParser(tokens, tensors, EnumSet.of(Kind.INPUT, Kind.OUTPUT)).formula();
            if (tokens.peek().kind() != Token.Kind.END) {
                throw tokens.refused(tokens.peek(), "the end: scratch memory has one number, its size in bytes");
            }
            if (size.expression() instanceof Expression.Constant constant && constant.value() < 1) {
                throw parameter.refused(first.begin(), String.valueOf(constant.value()), "a size in bytes, 1 or more");
            }
            sizes.add(size);
            names.add(name);
        }
        // Known from here on, so that no size depends on another's.
        names.forEach(name -> tensors.add(Kind.SCRATCH, name, Datatype.UINT8, Optional.empty()));
        return List.copyOf(sizes);
    }

    /** Refuses keys that may be mistyped. Keys of another form are for others: the server knows some too. */
    private void refuseUnknownParameters(List<String> kernels) {
        for (Parameter parameter : parameters.startingWith("")) {
            String key = parameter.key();
            int dot = key.lastIndexOf('.');
            if (dot < 0 || key.startsWith(SCRATCH + ".") || key.startsWith(SHAPE + ".")) {
                continue;
            }
            String kernel = key.substring(0, dot);
            String property = key.substring(dot + 1);
            boolean isProperty = KernelReader.PROPERTIES.contains(property);
            boolean isKernel = kernels.contains(kernel);
            if (isProperty && !isKernel) {
                throw parameter.refused("found kernel '" + kernel + "', expected one of those that parameter '"
                        + KERNELS + "' lists: " + String.join(", ", kernels));
            }
            if (isKernel && !isProperty) {
                throw parameter.refused(
                        "found '" + property + "', expected one of " + String.join(", ", KernelReader.PROPERTIES));
            }
        }
    }

    /** Refuses outputs that no kernel gets: they would show data of other requests, left in their memory. */
    private void refuseUnusedTensors(List<KernelPlan> kernels) {
        Set<Integer> used = new HashSet<>();
        for (KernelPlan kernel : kernels) {
            for (Argument argument : kernel.arguments()) {
                if (argument instanceof Argument.Address address) {
                    used.add(address.tensor());
                }
            }
        }
        for (Kind kind : List.of(Kind.OUTPUT, Kind.SCRATCH)) {
            for (Entry entry : tensors.all(kind)) {
                if (!used.contains(entry.number())) {
                    throw GatunException.invalidArgument("model '" + config.getName() + "': "
                            + (kind == Kind.OUTPUT ? "output '" : "scratch memory '") + entry.name()
                            + "' is an argument of no kernel, expected it in the '.arguments' of one");
                }
            }
        }
    }
}
