// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.access;

import java.util.Optional;

/** Requests that are restricted together, over any protocol; the names are Triton's unless they say otherwise. */
public enum ApiGroup {
    /** Whether the server, or a model, is live or ready. */
    HEALTH("health"),
    /** Descriptions of the server and of models. */
    METADATA("metadata"),
    /** Inference. */
    INFERENCE("inference"),
    /** Registering shared memory, and its status. */
    SHARED_MEMORY("shared-memory"),
    /** A model's configuration. */
    MODEL_CONFIG("model-config"),
    /** Loading, unloading and listing models. */
    MODEL_REPOSITORY("model-repository"),
    /** Counters. */
    STATISTICS("statistics"),
    /** Settings of traces. */
    TRACE("trace"),
    /** Settings of the log. */
    LOGGING("logging"),
    /** What the console shows of the server, which is all of the above but what models compute; not one of Triton's. */
    CONSOLE("console");

    private final String wireName;

    ApiGroup(String wireName) {
        this.wireName = wireName;
    }

    /** The name that flags give it. */
    public String wireName() {
        return wireName;
    }

    /** The group of this name; empty when there is none. */
    public static Optional<ApiGroup> of(String wireName) {
        for (ApiGroup group : values()) {
            if (group.wireName.equals(wireName)) {
                return Optional.of(group);
            }
        }
        return Optional.empty();
    }
}
