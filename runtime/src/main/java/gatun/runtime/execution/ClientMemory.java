// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.tensor.Datatype;
import gatun.spi.BackendModel;
import gatun.spi.MemoryUse;
import gatun.spi.Setting;
import java.util.function.Function;

/** Where runs touch tensors in clients' memory: as the backend says and the operator allows. Immutable. */
record ClientMemory(Function<String, MemoryUse> inputs, Function<String, MemoryUse> outputs) {
    /** For models of which nothing is known: all is copied. */
    static final ClientMemory UNKNOWN = new ClientMemory(
            input -> MemoryUse.copied("nothing is known of the model"),
            output -> MemoryUse.copied("nothing is known of the model"));

    private static final MemoryUse STRINGS = MemoryUse.copied("BYTES are always copied");

    private static final MemoryUse TRUSTED =
            new MemoryUse(MemoryUse.Place.CLIENT, "clients are trusted, by " + Setting.TRUST_CLIENT_SHM);

    /** As {@code model} says; in place whatever it says where the operator {@code trusts} clients. */
    static ClientMemory of(BackendModel model, boolean trusts) {
        return trusts
                ? new ClientMemory(input -> TRUSTED, output -> TRUSTED)
                : new ClientMemory(model::inputMemory, model::outputMemory);
    }

    MemoryUse input(String name, Datatype datatype) {
        return datatype == Datatype.BYTES ? STRINGS : inputs.apply(name);
    }

    MemoryUse output(String name, Datatype datatype) {
        return datatype == Datatype.BYTES ? STRINGS : outputs.apply(name);
    }
}
