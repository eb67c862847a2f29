// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.scheduling;

import org.jspecify.annotations.Nullable;

/** A list linked through its elements, so that adding and removing costs no memory and no search. */
final class IntrusiveList<T extends IntrusiveList.Node<T>> {
    private @Nullable T first;
    private @Nullable T last;
    private int size;

    /** An element of at most one list, which knows its neighbours. Guarded by the lock that guards the list. */
    abstract static class Node<T extends Node<T>> {
        @Nullable
        T previous;

        @Nullable
        T next;
    }

    int size() {
        return size;
    }

    @Nullable
    T first() {
        return first;
    }

    void add(T node) {
        node.previous = last;
        if (last == null) {
            first = node;
        } else {
            last.next = node;
        }
        last = node;
        size++;
    }

    void remove(T node) {
        T previous = node.previous;
        T next = node.next;
        if (previous == null) {
            first = next;
        } else {
            previous.next = next;
        }
        if (next == null) {
            last = previous;
        } else {
            next.previous = previous;
        }
        node.previous = null;
        node.next = null;
        size--;
    }
}
