// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/** Brings folders of models up to date before they are looked at. Safe for any thread. */
public interface RepositoryRefresh {
    /** All folders, before they are looked through for changes. What cannot be brought up to date stays as it is. */
    void refresh();

    /** Refreshes a model's folder before it is loaded on demand. Throws UNAVAILABLE when that is impossible. */
    void refresh(String model);
}
