// SPDX-License-Identifier: Apache-2.0
package gatun.server.settings;

import java.util.Map;

/** Where responses of models are kept whose configuration asks for that. */
public sealed interface ResponseCacheSettings {
    /**
     * In this server's memory.
     *
     * @param byteSize the most bytes of native memory that they may take; at least 1
     */
    record Local(long byteSize) implements ResponseCacheSettings {}

    /**
     * In a store that servers share.
     *
     * @param kind the name of the kind of store, such as {@code redis}
     * @param options its options, as that kind reads them
     */
    record Shared(String kind, Map<String, String> options) implements ResponseCacheSettings {
        /** Keeps a copy of the options. */
        public Shared {
            options = Map.copyOf(options);
        }

        /** Without the values of the options, among which are passwords. */
        @Override
        public String toString() {
            return "Shared[kind=" + kind + ", options=" + options.keySet() + "]";
        }
    }
}
