// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.GatunException;
import gatun.runtime.execution.ServedModel;
import java.util.Optional;

/** Finds the members of an ensemble as they are served now, after reloads in their new form. */
public interface MemberModels {
    /** The version of a step that takes the highest ready one. */
    long LATEST = -1;

    /**
     * The model of a step.
     *
     * @param name the member's name
     * @param version its version, or {@link #LATEST}
     * @throws GatunException when no such version can answer now
     */
    ServedModel member(String name, long version);

    /**
     * Why a member that {@code ensemble} needs cannot answer now, in the words of the index; empty when it can.
     *
     * @param version its version, or {@link #LATEST}
     */
    Optional<String> missing(String ensemble, String name, long version);
}
