// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import org.jspecify.annotations.Nullable;

/** An element of a {@link Chain}, which knows its neighbours. Guarded by the lock that guards the chain. */
abstract class Link<T extends Link<T>> {
    @Nullable
    T earlier;

    @Nullable
    T later;
}
