// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.runtime.execution.ServedModel;
import java.util.Optional;

/** Finds the members of an ensemble as they are served now, after reloads in their new form. */
public interface MemberModels {
    /** The version of a step that takes the highest ready one. */
    long LATEST = -1;

    /** The model of a step, of that version or {@link #LATEST}. Throws when none can answer now. */
    ServedModel member(String name, long version);

    /**
     * Why a member that {@code ensemble} needs, of that version or {@link #LATEST}, cannot answer now, in the words of
     * the index; empty when it can.
     */
    Optional<String> missing(String ensemble, String name, long version);
}
