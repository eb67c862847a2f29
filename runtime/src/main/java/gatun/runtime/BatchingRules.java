// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import java.nio.file.Path;
import java.util.Optional;

/** Which models' requests share runs by a {@link BatchingRule}. Safe for any thread. */
@FunctionalInterface
public interface BatchingRules {
    /** None: only configurations say which requests share runs. */
    BatchingRules NONE = versionDirectory -> Optional.empty();

    /** A version's rule; empty for none. Throws when what the directory holds is wrong; it is not loaded then. */
    Optional<BatchingRule> of(Path versionDirectory);
}
