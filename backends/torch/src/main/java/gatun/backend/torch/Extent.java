// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The length of a dimension: a sum of products of numbers and symbols. A symbol has the same value in all inputs. Its
 * limits, least and most, are inclusive. Immutable.
 */
record Extent(List<Term> terms, long least, long most) {
    private static final Pattern NUMBER = Pattern.compile("[0-9]{1,18}L?");
    private static final Pattern SYMBOL = Pattern.compile("[A-Za-z_][A-Za-z_0-9]*");

    /** A number times the values of symbols. */
    record Term(long factor, List<String> symbols) {
        Term {
            symbols = List.copyOf(symbols);
        }
    }

    Extent {
        terms = List.copyOf(terms);
    }

    static Extent fixed(long size) {
        return new Extent(List.of(new Term(size, List.of())), size, size);
    }

    static Extent symbol(String name, long least, long most) {
        return new Extent(List.of(new Term(1, List.of(name))), least, most);
    }

    /** Parses C++ such as {@code 2L*s17 + 1L}; empty for more than sums and products. */
    static Optional<Extent> read(String text, long least, long most) {
        List<Term> terms = new ArrayList<>();
        for (String summand : text.split("\\+", -1)) {
            long factor = 1;
            List<String> symbols = new ArrayList<>();
            for (String part : summand.split("\\*", -1)) {
                String token = part.strip().replaceAll("^\\((.*)\\)$", "$1");
                if (NUMBER.matcher(token).matches()) {
                    factor *= Long.parseLong(token.replace("L", ""));
                } else if (SYMBOL.matcher(token).matches()) {
                    symbols.add(token);
                } else {
                    return Optional.empty();
                }
            }
            terms.add(new Term(factor, symbols));
        }
        Extent read = new Extent(terms, least, most);
        return Optional.of(read.isFixed() ? fixed(read.terms.getFirst().factor()) : read);
    }

    boolean isFixed() {
        return terms.size() == 1 && terms.getFirst().symbols().isEmpty();
    }

    boolean isSymbol() {
        return terms.size() == 1
                && terms.getFirst().factor() == 1
                && terms.getFirst().symbols().size() == 1;
    }

    String symbol() {
        return terms.getFirst().symbols().getFirst();
    }
}
