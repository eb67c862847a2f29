// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.memory.tensor.Datatype;
import java.util.Arrays;
import java.util.List;

/** The names of datatypes on the wire. */
final class DatatypeNames {
    /** All of them, in the order of {@link Datatype}. */
    static final List<String> ALL =
            Arrays.stream(Datatype.values()).map(Datatype::wireName).toList();

    private DatatypeNames() {}
}
