// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import org.jspecify.annotations.Nullable;

/** What knows its neighbours in a {@link Chain}. Guarded by whatever guards that chain. */
abstract class Link<T extends Link<T>> {
    @Nullable
    T earlier;

    @Nullable
    T later;
}
