// SPDX-License-Identifier: Apache-2.0
package gatun.spi;

import java.util.Map;

/** Opens stores of one kind; found by {@link java.util.ServiceLoader}. */
public interface ResponseStoreProvider {
    /** The name by which an operator chooses the kind, such as {@code redis}. */
    String name();

    /**
     * Connects to a store.
     *
     * @param options what the operator wrote, by name
     * @throws gatun.memory.tensor.GatunException INVALID_ARGUMENT when an option is unknown, missing or wrong, UNAVAILABLE
     *     when the store does not answer or refuses
     */
    ResponseStore open(Map<String, String> options);
}
