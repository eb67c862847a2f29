// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/**
 * A line of a server's repository index.
 *
 * @param name the model
 * @param version the version; empty when none was considered
 * @param state READY, UNAVAILABLE, LOADING or UNLOADING; empty when it was never loaded
 * @param reason why it is not ready; empty when it is
 */
public record RepositoryModel(String name, String version, String state, String reason) {
    /** Whether it answers requests now. */
    public boolean isReady() {
        return state.equals("READY");
    }
}
