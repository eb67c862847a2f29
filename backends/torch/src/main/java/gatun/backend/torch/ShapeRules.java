// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import java.util.ArrayList;
import java.util.List;

/**
 * The shapes that a model takes together. Its library believes what it is given: inputs of other shapes have it read
 * beyond their memory. Immutable.
 */
final class ShapeRules {
    private final List<InputForm> forms;
    private final List<String> names;

    /** For each symbol, the input and the dimension that it is taken from. */
    private final List<String> symbols = new ArrayList<>();

    /** For each input and dimension, what its length must be. */
    private final Sum[][] sums;

    /** A length as sums of products of symbols' values. */
    private static final class Sum {
        private final long[] factors;

        /** The numbers of each product's symbols. */
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

    /**
     * Prepares the checks.
     *
     * @param names what clients call the inputs
     */
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
        sums = new Sum[forms.size()][];
        for (int i = 0; i < sums.length; i++) {
            sums[i] = forms.get(i).extents().stream().map(this::sum).toArray(Sum[]::new);
        }
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

    /** How many symbols there are. */
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

    /** The largest batch that every input takes, where there are batches. */
    long largestBatch() {
        return forms.stream()
                .mapToLong(form -> form.extents().getFirst().most())
                .min()
                .orElse(Long.MAX_VALUE);
    }

    /** The least value that symbol {@code index} may have. */
    long least(int index) {
        return bounds(index).stream().mapToLong(Extent::least).max().orElse(1);
    }

    /** The greatest. */
    long most(int index) {
        return bounds(index).stream().mapToLong(Extent::most).min().orElse(Long.MAX_VALUE);
    }

    private List<Extent> bounds(int index) {
        return forms.stream()
                .flatMap(form -> form.extents().stream())
                .filter(extent -> extent.isSymbol() && extent.symbol().equals(symbols.get(index)))
                .toList();
    }

    /** The shape of input {@code position} where the symbols have these values. */
    Shape shape(int position, long[] values) {
        long[] dims = new long[sums[position].length];
        for (int i = 0; i < dims.length; i++) {
            dims[i] = sums[position][i].value(values);
        }
        return Shape.of(dims);
    }

    /**
     * Checks the shapes of all inputs.
     *
     * @param values room for a value of each symbol
     * @throws GatunException INVALID_ARGUMENT for the first that does not fit
     */
    void check(Shape[] shapes, long[] values) {
        for (int i = 0; i < values.length; i++) {
            values[i] = 0;
        }
        for (int i = 0; i < sums.length; i++) {
            Shape shape = shapes[i];
            List<Extent> extents = forms.get(i).extents();
            if (shape.rank() != extents.size()) {
                throw refusal(i, shape, "expected " + forms.get(i).shape());
            }
            for (int d = 0; d < extents.size(); d++) {
                Extent extent = extents.get(d);
                long length = shape.dim(d);
                if (length < extent.least() || length > extent.most()) {
                    throw refusal(i, shape, "expected " + range(extent) + " in dimension " + d);
                }
                if (extent.isSymbol()) {
                    int symbol = sums[i][d].symbols[0][0];
                    if (values[symbol] == 0) {
                        values[symbol] = length;
                    }
                }
            }
        }
        for (int i = 0; i < sums.length; i++) {
            for (int d = 0; d < sums[i].length; d++) {
                long expected = sums[i][d].value(values);
                if (shapes[i].dim(d) != expected) {
                    throw refusal(
                            i,
                            shapes[i],
                            "expected " + expected + " in dimension " + d + ", which follows from the other inputs");
                }
            }
        }
    }

    private static String range(Extent extent) {
        if (extent.least() == extent.most()) {
            return Long.toString(extent.least());
        }
        return extent.most() == Long.MAX_VALUE ? "at least " + extent.least() : extent.least() + " to " + extent.most();
    }

    private GatunException refusal(int position, Shape shape, String expected) {
        return GatunException.invalidArgument(
                "input '" + names.get(position) + "' has shape " + shape + ", " + expected);
    }
}
