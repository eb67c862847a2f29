// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.GatunException;

/** Brings folders of models up to date before they are looked at. Safe for any thread. */
public interface RepositoryRefresh {
    /** All folders, before they are looked through for changes. What cannot be brought up to date stays as it is. */
    void refresh();

    /**
     * The folder of one model, before it is loaded because somebody asks for that.
     *
     * @throws GatunException UNAVAILABLE when it cannot be brought up to date
     */
    void refresh(String model);
}
