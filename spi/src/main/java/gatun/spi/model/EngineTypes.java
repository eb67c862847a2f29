// SPDX-License-Identifier: Apache-2.0
package gatun.spi.model;

import gatun.memory.tensor.Datatype;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.ToIntFunction;

/** The numbers that an engine has for element types, both ways. Immutable. */
public final class EngineTypes {
    private final Map<Datatype, Integer> numbers = new EnumMap<>(Datatype.class);
    private final Map<Integer, Datatype> datatypes = new HashMap<>();

    /** @param number gives the engine's number of a datatype; for those that the engine does not have, that of INVALID */
    public EngineTypes(ToIntFunction<Datatype> number) {
        int none = number.applyAsInt(Datatype.INVALID);
        for (Datatype datatype : Datatype.values()) {
            int own = number.applyAsInt(datatype);
            numbers.put(datatype, own);
            if (own != none) {
                datatypes.put(own, datatype);
            }
        }
    }

    /** The engine's number for a datatype. */
    public int number(Datatype datatype) {
        return Objects.requireNonNull(numbers.get(datatype));
    }

    /** The datatype for a number of the engine; INVALID for those that no protocol can carry. */
    public Datatype datatype(int number) {
        return datatypes.getOrDefault(number, Datatype.INVALID);
    }
}
