// SPDX-License-Identifier: Apache-2.0
package gatun.backend.cuda;

import gatun.backend.cuda.Expression.Operator;
import gatun.backend.cuda.TensorTable.Entry;
import gatun.backend.cuda.TensorTable.Kind;
import gatun.backend.cuda.Tokens.Token;
import gatun.memory.tensor.Shape;
import java.util.Set;

/**
 * Reads expressions at load: integers, {@code + - * / %} with the precedence of C, parentheses, functions and {@code
 * batch}. Computes what is the same in every run, so that its errors show at load. For one parameter and one thread.
 */
final class ExpressionParser {
    /** How deep expressions may nest: more than anybody writes, and far less than a thread's stack bears. */
    private static final int MAX_DEPTH = 100;

    private static final String OPERAND =
            "a number, '(', batch, or one of the functions ceil, min, max, dim, elements, bytes, rank";

    private final Tokens tokens;
    private final TensorTable tensors;
    private final Set<Kind> known;
    private int depth;

    /** Reads from {@code tokens}, and refuses tensors of other kinds than {@code known}. */
    ExpressionParser(Tokens tokens, TensorTable tensors, Set<Kind> known) {
        this.tokens = tokens;
        this.tensors = tensors;
        this.known = known;
    }

    /** Reads one expression, up to a comma or the end. Throws INVALID_ARGUMENT at the place of an error. */
    Formula formula() {
        Token first = tokens.peek();
        Expression expression = sum();
        if (tokens.peek().kind() != Token.Kind.END && !tokens.peek().isSign(',')) {
            throw tokens.refused(tokens.peek(), "an operator, a comma or the end");
        }
        return new Formula(tokens.parameter().key(), tokens.textFrom(first), expression);
    }

    private Expression sum() {
        Expression left = product();
        while (true) {
            Token sign = tokens.peek();
            if (tokens.takeIf('+')) {
                left = binary(sign, Operator.ADD, left, product());
            } else if (tokens.takeIf('-')) {
                left = binary(sign, Operator.SUBTRACT, left, product());
            } else {
                return left;
            }
        }
    }

    private Expression product() {
        Expression left = factor();
        while (true) {
            Token sign = tokens.peek();
            if (tokens.takeIf('*')) {
                left = binary(sign, Operator.MULTIPLY, left, factor());
            } else if (tokens.takeIf('/')) {
                left = binary(sign, Operator.DIVIDE, left, factor());
            } else if (tokens.takeIf('%')) {
                left = binary(sign, Operator.REMAINDER, left, factor());
            } else {
                return left;
            }
        }
    }

    private Expression factor() {
        Token token = tokens.peek();
        if (++depth > MAX_DEPTH) {
            throw tokens.refused(token, "at most " + MAX_DEPTH + " levels of parentheses and signs");
        }
        try {
            if (tokens.takeIf('-')) {
                return binary(token, Operator.SUBTRACT, new Expression.Constant(0), factor());
            }
            if (tokens.takeIf('+')) {
                return factor();
            }
            if (tokens.takeIf('(')) {
                Expression inner = sum();
                tokens.expect(')', "')' or an operator");
                return inner;
            }
            return operand(tokens.take());
        } finally {
            depth--;
        }
    }

    private Expression operand(Token token) {
        if (token.kind() == Token.Kind.INTEGER) {
            return new Expression.Constant(Long.parseLong(token.text()));
        }
        if (token.kind() == Token.Kind.DECIMAL) {
            throw tokens.refused(token, "an integer");
        }
        if (token.kind() != Token.Kind.NAME) {
            throw tokens.refused(token, OPERAND);
        }
        if (!tokens.peek().isSign('(')) {
            if (token.text().equals("batch")) {
                return new Expression.Batch();
            }
            throw tensors.find(token.text()).isPresent()
                    ? tokens.refused(
                            token,
                            "a number, such as elements(" + token.text() + "), bytes(" + token.text() + ") or dim("
                                    + token.text() + ", 0)")
                    : tokens.refused(token, OPERAND);
        }
        tokens.take();
        return switch (token.text()) {
            case "ceil" -> ceiling();
            case "min" -> least(Operator.MINIMUM);
            case "max" -> least(Operator.MAXIMUM);
            case "dim" -> dimension();
            case "elements" -> new Expression.Elements(shaped());
            case "rank" -> new Expression.Rank(shaped());
            case "bytes" -> {
                Entry tensor = tensor();
                tokens.expect(')', "')' behind the tensor's name");
                yield new Expression.Bytes(tensor.number());
            }
            default -> throw tokens.refused(token, OPERAND);
        };
    }

    /** A division that rounds up; the name promises it of nothing else. */
    private Expression ceiling() {
        Token first = tokens.peek();
        // Read here and not by product(): binary() folds constants, so the last division could not be found afterwards.
        Expression left = factor();
        while (tokens.peek().isSign('*')
                || tokens.peek().isSign('/')
                || tokens.peek().isSign('%')) {
            Token sign = tokens.take();
            Expression right = factor();
            if (sign.isSign('/') && tokens.takeIf(')')) {
                return binary(sign, Operator.CEILING_DIVIDE, left, right);
            }
            Operator operator =
                    sign.isSign('*') ? Operator.MULTIPLY : sign.isSign('/') ? Operator.DIVIDE : Operator.REMAINDER;
            left = binary(sign, operator, left, right);
        }
        throw tokens.refused(
                tokens.peek().isSign(')') ? first : tokens.peek(),
                "a division inside ceil( ), such as ceil((a + b) / 256)");
    }

    private Expression least(Operator operator) {
        Expression left = sum();
        tokens.expect(',', "',' and another number");
        do {
            left = binary(tokens.peek(), operator, left, sum());
        } while (tokens.takeIf(','));
        tokens.expect(')', "')', ',' or an operator");
        return left;
    }

    private Expression dimension() {
        Entry tensor = tensor();
        requireShape(tensor);
        tokens.expect(',', "',' and the number of a dimension");
        Token index = tokens.take();
        if (index.kind() != Token.Kind.INTEGER) {
            throw tokens.refused(index, "the number of a dimension, from 0");
        }
        long dimension = Long.parseLong(index.text());
        int rank = tensor.shape().map(Shape::rank).orElse(Integer.MAX_VALUE);
        if (dimension >= rank) {
            throw tokens.refused(
                    index,
                    rank == 0
                            ? "no dim(): '" + tensor.name() + "' has no dimensions"
                            : "0 to " + (rank - 1) + ", since '" + tensor.name() + "' has shape "
                                    + tensor.shape().orElseThrow());
        }
        tokens.expect(')', "')' behind the number of the dimension");
        return new Expression.Dimension(tensor.number(), (int) dimension);
    }

    private int shaped() {
        Entry tensor = tensor();
        requireShape(tensor);
        tokens.expect(')', "')' behind the tensor's name");
        return tensor.number();
    }

    private void requireShape(Entry tensor) {
        if (tensor.kind() == Kind.SCRATCH) {
            throw tokens.parameter()
                    .refused("'" + tensor.name() + "' is scratch memory, which has no shape; expected bytes("
                            + tensor.name() + ")");
        }
    }

    private Entry tensor() {
        Token name = tokens.take();
        if (name.kind() != Token.Kind.NAME && name.kind() != Token.Kind.QUOTED) {
            throw tokens.refused(name, "the name of a tensor, of " + tensors.names());
        }
        Entry tensor = tensors.find(name.text())
                .orElseThrow(() -> tokens.refused(name, "the name of a tensor, of " + tensors.names()));
        if (!known.contains(tensor.kind())) {
            throw tokens.refused(
                    name,
                    "a tensor whose size is known before this one's: "
                            + known.stream()
                                    .map(tensors::names)
                                    .filter(names -> !names.isEmpty())
                                    .sorted()
                                    .reduce((a, b) -> a + ", " + b)
                                    .orElse("there is none"));
        }
        return tensor;
    }

    private Expression binary(Token sign, Operator operator, Expression left, Expression right) {
        Expression expression = new Expression.Binary(operator, left, right);
        if (!expression.isConstant()) {
            return expression;
        }
        try {
            return new Expression.Constant(expression.value(NO_SIZES));
        } catch (ArithmeticException e) {
            throw tokens.parameter()
                    .refused(sign.begin(), "a number that cannot be: " + e.getMessage(), "one that has a result");
        }
    }

    /** For constants, which use no sizes. */
    private static final Sizes NO_SIZES = new Sizes(0);
}
