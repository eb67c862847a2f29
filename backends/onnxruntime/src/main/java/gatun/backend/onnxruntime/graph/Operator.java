// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import java.util.List;

/** What an operator's outputs may be, and its inputs by position; the last may stand for all that follow. */
record Operator(Result result, List<Role> roles) {
    /** What the outputs of an operator may be after the graph was optimised. */
    enum Result {
        /** New values, which the engine cannot do without. */
        COMPUTED,
        /** New values, unless all inputs but one are the same for every request: adding 0 is nothing. */
        ARITHMETIC,
        /** Perhaps the values, or even the memory, of an input. */
        FORWARDED,
        /** Unknown memory: an output of these is never in place. */
        UNKNOWN
    }

    /** An input; {@code how}, for people, is empty for data; {@code repeats} if it stands for all that follow. */
    record Role(String name, Use use, String how, boolean repeats) {
        Role(String name, Use use, boolean repeats) {
            this(
                    name,
                    use,
                    switch (use) {
                        case DATA -> "";
                        case DIVISION -> "divides integers with it";
                        case QUANTIZED -> "may look it up in a table";
                        case DECIDES -> "takes it as " + name;
                    },
                    repeats);
        }
    }

    /** How an operator uses the values of an input. */
    enum Use {
        DATA,
        /** To compute with, where they are no integers: integers are checked, and then divided by. */
        DIVISION,
        /** For computing, unless the input is quantised: Softmax and Sigmoid then become table look-ups. */
        QUANTIZED,
        /** As addresses, sizes, counts, orders or branches. */
        DECIDES
    }

    private static final Role UNLISTED = new Role("an input that its specification has not", Use.DECIDES, true);

    Role role(int position) {
        if (position < roles.size()) {
            return roles.get(position);
        }
        if (!roles.isEmpty() && roles.get(roles.size() - 1).repeats()) {
            return roles.get(roles.size() - 1);
        }
        return UNLISTED;
    }
}
