// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.backend.cuda.ModelPlan.Argument;
import gatun.backend.cuda.ModelPlan.KernelPlan;
import gatun.backend.cuda.Parameters.Parameter;
import gatun.backend.cuda.TensorTable.Entry;
import gatun.backend.cuda.TensorTable.Kind;
import gatun.backend.cuda.Tokens.Token;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

/** Reads the parameters of one kernel. For one thread, at load. */
final class KernelReader {
    private static final String FUNCTION = "function";
    private static final String GRID = "grid";
    private static final String BLOCK = "block";
    private static final String SHARED_MEMORY = "shared_memory";
    /** The property with the values for the kernel's parameters. */
    static final String ARGUMENTS = "arguments";

    /** The properties of a kernel in a configuration, each written after the kernel's name and a dot. */
    static final List<String> PROPERTIES = List.of(FUNCTION, GRID, BLOCK, SHARED_MEMORY, ARGUMENTS);

    /** More than CUDA takes: 32764 bytes of parameters. */
    private static final int MAX_ARGUMENTS = 4095;

    private final Parameters parameters;
    private final TensorTable tensors;
    private final String name;

    KernelReader(Parameters parameters, TensorTable tensors, String name) {
        this.parameters = parameters;
        this.tensors = tensors;
        this.name = name;
    }

    KernelPlan read() {
        return new KernelPlan(
                name,
                parameters.find(key(FUNCTION)).map(KernelReader::function).orElse(name),
                axes(parameters.require(
                        key(GRID), "the number of blocks in x, y and z, such as \"ceil(elements(T) / 256)\"")),
                axes(parameters.require(key(BLOCK), "the number of threads of a block in x, y and z, such as \"256\"")),
                sharedMemory(),
                arguments(parameters.require(
                        key(ARGUMENTS), "tensors and numbers in the order of the kernel's parameters")));
    }

    private String key(String property) {
        return name + "." + property;
    }

    private static String function(Parameter parameter) {
        String function = parameter.text().strip();
        if (function.isEmpty()) {
            throw parameter.refused("it is empty, expected the name of a function in the model's file");
        }
        return function;
    }

    private List<Formula> axes(Parameter parameter) {
        Tokens tokens = new Tokens(parameter);
        List<Formula> axes = new ArrayList<>();
        do {
            Token first = tokens.peek();
            if (axes.size() == KernelPlan.AXES) {
                throw tokens.refused(first, "the end: there are no more than x, y and z");
            }
            Formula axis = anywhere(tokens);
            if (axis.expression() instanceof Expression.Constant constant && constant.value() < 1) {
                throw parameter.refused(first.begin(), String.valueOf(constant.value()), "1 or more");
            }
            axes.add(axis);
        } while (tokens.takeIf(','));
        while (axes.size() < KernelPlan.AXES) {
            axes.add(new Formula(parameter.key(), "1", new Expression.Constant(1)));
        }
        return List.copyOf(axes);
    }

    private Formula sharedMemory() {
        Optional<Parameter> given = parameters.find(key(SHARED_MEMORY));
        if (given.isEmpty()) {
            return new Formula(key(SHARED_MEMORY), "0", new Expression.Constant(0));
        }
        Tokens tokens = new Tokens(given.orElseThrow());
        Token first = tokens.peek();
        Formula bytes = anywhere(tokens);
        if (tokens.peek().kind() != Token.Kind.END) {
            throw tokens.refused(tokens.peek(), "the end: shared memory has one number, its size in bytes");
        }
        if (bytes.expression() instanceof Expression.Constant constant && constant.value() < 0) {
            throw tokens.parameter()
                    .refused(first.begin(), String.valueOf(constant.value()), "a size in bytes, 0 or more");
        }
        return bytes;
    }

    private List<Argument> arguments(Parameter parameter) {
        Tokens tokens = new Tokens(parameter);
        List<Argument> arguments = new ArrayList<>();
        if (tokens.peek().kind() == Token.Kind.END) {
            return List.of();
        }
        do {
            if (arguments.size() == MAX_ARGUMENTS) {
                throw tokens.refused(tokens.peek(), "the end: a kernel has at most " + MAX_ARGUMENTS + " parameters");
            }
            arguments.add(argument(tokens));
        } while (tokens.takeIf(','));
        if (tokens.peek().kind() != Token.Kind.END) {
            throw tokens.refused(tokens.peek(), "',' and the next argument, or the end");
        }
        return List.copyOf(arguments);
    }

    private Argument argument(Tokens tokens) {
        Token word = tokens.take();
        Optional<ScalarType> type = word.kind() == Token.Kind.NAME ? ScalarType.of(word.text()) : Optional.empty();
        boolean isAlone =
                tokens.peek().kind() == Token.Kind.END || tokens.peek().isSign(',');
        if (type.isPresent() && !(isAlone && tensors.find(word.text()).isPresent())) {
            return scalar(tokens, type.orElseThrow());
        }
        if (word.kind() == Token.Kind.NAME || word.kind() == Token.Kind.QUOTED) {
            Optional<Entry> tensor = tensors.find(word.text());
            if (tensor.isPresent()) {
                return new Argument.Address(tensor.orElseThrow().number());
            }
        }
        throw tokens.refused(
                word, "a tensor, of " + tensors.names() + ", or a type and a number; types are " + ScalarType.words());
    }

    private Argument scalar(Tokens tokens, ScalarType type) {
        Optional<Argument> fraction = type.isFloating() ? fraction(tokens, type) : Optional.empty();
        if (fraction.isPresent()) {
            return fraction.orElseThrow();
        }
        Token first = tokens.peek();
        Formula value = anywhere(tokens);
        if (value.expression() instanceof Expression.Constant constant
                && (constant.value() < type.least() || constant.value() > type.most())) {
            throw tokens.parameter()
                    .refused(
                            first.begin(),
                            String.valueOf(constant.value()),
                            "a value of " + type.word() + ", " + type.least() + " to " + type.most());
        }
        return new Argument.Scalar(type, value);
    }

    /** A number with a point or an exponent, which stands alone: expressions are of integers. */
    private static Optional<Argument> fraction(Tokens tokens, ScalarType type) {
        Token sign = tokens.peek();
        boolean signed = sign.isSign('-') || sign.isSign('+');
        Token number = signed ? tokens.peekSecond() : sign;
        if (number.kind() != Token.Kind.DECIMAL) {
            return Optional.empty();
        }
        if (signed) {
            tokens.take();
        }
        tokens.take();
        double value = Double.parseDouble(number.text());
        if (Double.isInfinite(type == ScalarType.FLOAT ? (float) value : value)) {
            throw tokens.refused(number, "a number that " + type.word() + " holds");
        }
        return Optional.of(new Argument.Fraction(type, sign.isSign('-') ? -value : value));
    }

    private Formula anywhere(Tokens tokens) {
        return new ExpressionParser(tokens, tensors, EnumSet.allOf(Kind.class)).formula();
    }
}
