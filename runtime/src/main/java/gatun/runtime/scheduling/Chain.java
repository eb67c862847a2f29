// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import org.jspecify.annotations.Nullable;

/** A list linked through its elements, so that adding and removing costs no memory and no search. */
final class Chain<T extends Link<T>> {
    private @Nullable T first;
    private @Nullable T last;
    private int size;

    int size() {
        return size;
    }

    @Nullable
    T first() {
        return first;
    }

    void add(T link) {
        link.earlier = last;
        if (last == null) {
            first = link;
        } else {
            last.later = link;
        }
        last = link;
        size++;
    }

    void remove(T link) {
        T earlier = link.earlier;
        T later = link.later;
        if (earlier == null) {
            first = later;
        } else {
            earlier.later = later;
        }
        if (later == null) {
            last = earlier;
        } else {
            later.earlier = earlier;
        }
        link.earlier = null;
        link.later = null;
        size--;
    }
}
