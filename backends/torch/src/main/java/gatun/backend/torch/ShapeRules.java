// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;

/** The shapes that a model takes together; with others its library reads beyond memory. Immutable. */
final class ShapeRules {
    private static final int NO_SYMBOL = -1;

    private final List<InputForm> forms;
    private final List<String> names;

    /** For each symbol, the input and the dimension that it is taken from. */
    private final List<String> symbols = new ArrayList<>();

    private final Dimension[][] dimensions;

    /** A rule for a length; {@link #NO_SYMBOL} unless it is a symbol alone. */
    private record Dimension(long least, long most, int symbol, Sum sum) {
        long length(long[] values) {
            if (symbol != NO_SYMBOL) {
                return values[symbol];
            }
            return least == most ? least : sum.value(values);
        }
    }

    /** A length as sums of products of symbols' values. */
    private static final class Sum {
        private final long[] factors;
        private final int[][] symbols;

        Sum(long[] factors, int[][] symbols) {
            this.factors = factors;
            this.symbols = symbols;
        }

        long value(long[] values) {
            long sum = 0;
            for (int i = 0; i < factors.length; i++) {
                long product = factors[i];
                for (int symbol : symbols[i]) {
                    product *= values[symbol];
                }
                sum += product;
            }
            return sum;
        }
    }

    /** Prepares the checks. {@code names} says what clients call the inputs. */
    ShapeRules(List<InputForm> forms, List<String> names) {
        this.forms = List.copyOf(forms);
        this.names = List.copyOf(names);
        for (InputForm form : forms) {
            for (Extent extent : form.extents()) {
                if (extent.isSymbol() && !symbols.contains(extent.symbol())) {
                    symbols.add(extent.symbol());
                }
            }
        }
        dimensions = forms.stream()
                .map(form -> form.extents().stream().map(this::dimension).toArray(Dimension[]::new))
                .toArray(Dimension[][]::new);
    }

    private Dimension dimension(Extent extent) {
        int symbol = extent.isSymbol() ? symbols.indexOf(extent.symbol()) : NO_SYMBOL;
        return new Dimension(extent.least(), extent.most(), symbol, sum(extent));
    }

    private Sum sum(Extent extent) {
        return new Sum(
                extent.terms().stream().mapToLong(Extent.Term::factor).toArray(),
                extent.terms().stream()
                        .map(term -> term.symbols().stream()
                                .mapToInt(symbols::indexOf)
                                .toArray())
                        .toArray(int[][]::new));
    }

    /** Whether each symbol is the length of some dimension by itself, so that all lengths can be told from inputs. */
    static boolean areKnown(List<InputForm> forms) {
        List<Extent> extents =
                forms.stream().flatMap(form -> form.extents().stream()).toList();
        List<String> alone =
                extents.stream().filter(Extent::isSymbol).map(Extent::symbol).toList();
        return extents.stream()
                .flatMap(extent -> extent.terms().stream())
                .flatMap(term -> term.symbols().stream())
                .allMatch(alone::contains);
    }

    int symbolCount() {
        return symbols.size();
    }

    /** The number of the symbol that is the first dimension of every input; -1 when there is none. */
    int batchSymbol() {
        String first = "";
        for (InputForm form : forms) {
            if (form.extents().isEmpty() || !form.extents().getFirst().isSymbol()) {
                return -1;
            }
            String own = form.extents().getFirst().symbol();
            if (!first.isEmpty() && !first.equals(own)) {
                return -1;
            }
            first = own;
        }
        return first.isEmpty() ? -1 : symbols.indexOf(first);
    }

    long largestBatch() {
        return forms.stream()
                .mapToLong(form -> form.extents().getFirst().most())
                .min()
                .orElse(Long.MAX_VALUE);
    }

    long least(int index) {
        return bounds(index).stream().mapToLong(Extent::least).max().orElse(1);
    }

    long most(int index) {
        return bounds(index).stream().mapToLong(Extent::most).min().orElse(Long.MAX_VALUE);
    }

    private List<Extent> bounds(int index) {
        return forms.stream()
                .flatMap(form -> form.extents().stream())
                .filter(extent -> extent.isSymbol() && extent.symbol().equals(symbols.get(index)))
                .toList();
    }

    Shape shape(int position, long[] values) {
        long[] dims = new long[dimensions[position].length];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = dimensions[position][i].length(values);
        }
        return Shape.of(dims);
    }

    /** Checks all inputs' shapes; {@code shapes} is asked twice. Throws INVALID_ARGUMENT for the first misfit. */
    void check(IntFunction<Shape> shapes, long[] values) {
        Arrays.fill(values, 0);
        for (int i = 0; i < dimensions.length; i++) {
            Shape shape = shapes.apply(i);
            Dimension[] own = dimensions[i];
            if (shape.rank() != own.length) {
                throw refusal(i, shape, "expected " + forms.get(i).shape());
            }
            for (int d = 0; d < own.length; d++) {
                Dimension dimension = own[d];
                long length = shape.dim(d);
                if (length < dimension.least || length > dimension.most) {
                    throw refusal(i, shape, "expected " + range(dimension) + " in dimension " + d);
                }
                if (dimension.symbol != NO_SYMBOL && values[dimension.symbol] == 0) {
                    values[dimension.symbol] = length;
                }
            }
        }
        for (int i = 0; i < dimensions.length; i++) {
            Shape shape = shapes.apply(i);
            Dimension[] own = dimensions[i];
            for (int d = 0; d < own.length; d++) {
                long expected = own[d].length(values);
                if (shape.dim(d) != expected) {
                    throw refusal(
                            i,
                            shape,
                            "expected " + expected + " in dimension " + d + ", which follows from the other inputs");
                }
            }
        }
    }

    private static String range(Dimension dimension) {
        if (dimension.least == dimension.most) {
            return Long.toString(dimension.least);
        }
        return dimension.most == Long.MAX_VALUE
                ? "at least " + dimension.least
                : dimension.least + " to " + dimension.most;
    }

    private GatunException refusal(int position, Shape shape, String expected) {
        return GatunException.invalidArgument(
                "input '" + names.get(position) + "' has shape " + shape + ", " + expected);
    }
}
