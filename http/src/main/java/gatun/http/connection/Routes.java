// SPDX-License-Identifier: Apache-2.0
package gatun.http.connection;

/** Answers requests whose paths it knows. Safe for any thread. */
@FunctionalInterface
public interface Routes {
    /**
     * Answers a request, or leaves it to the services that were registered with the listener.
     *
     * @return whether it was answered
     * @throws gatun.memory.tensor.GatunException to be answered as the failure it is
     */
    boolean answer(Exchange exchange);
}
