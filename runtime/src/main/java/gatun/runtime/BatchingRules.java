// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.nio.file.Path;
import java.util.Optional;

/** Which models' requests share runs by a {@link BatchingRule}. Safe for any thread. */
@FunctionalInterface
public interface BatchingRules {
    /** None: only configurations say which requests share runs. */
    BatchingRules NONE = versionDirectory -> Optional.empty();

    /**
     * The rule of a version; empty where there is none for it.
     *
     * @param versionDirectory the directory that holds the version's files
     * @throws gatun.memory.tensor.GatunException when what is found there is wrong; the version is not loaded then
     */
    Optional<BatchingRule> of(Path versionDirectory);
}
