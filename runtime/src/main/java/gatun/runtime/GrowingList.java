// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

import gatun.memory.tensor.Hold;
import gatun.memory.tensor.RegionLease;
import java.util.AbstractList;
import java.util.Arrays;
import java.util.Objects;
import java.util.RandomAccess;

/** A list that its owner makes longer, and that everybody else only reads. For one thread at a time. */
class GrowingList<E> extends AbstractList<E> implements RandomAccess {
    /** Most requests have no more tensors. */
    private static final int FEW = 4;

    private Object[] elements = new Object[FEW];
    private int size;

    /** A list without elements. */
    GrowingList() {}

    @Override
    @SuppressWarnings("unchecked") // only append puts something there
    public final E get(int index) {
        return (E) elements[Objects.checkIndex(index, size)];
    }

    @Override
    public final int size() {
        return size;
    }

    /** Adds an element at the end. */
    final void append(E element) {
        if (size == elements.length) {
            elements = Arrays.copyOf(elements, 2 * size);
        }
        elements[size++] = element;
    }

    /** Takes that very element out; false where it is not there. */
    @SuppressWarnings("ReferenceEquality") // equals() has no say in which element it is
    final boolean takeOut(E element) {
        for (int i = 0; i < size; i++) {
            if (elements[i] == element) {
                size--;
                System.arraycopy(elements, i + 1, elements, i, size - i);
                elements[size] = null;
                return true;
            }
        }
        return false;
    }

    /** The claims on memory that a request owns. For one thread at a time. */
    static final class RequestHolds extends GrowingList<Hold> {
        private boolean closed;
        private boolean incomplete;

        RequestHolds() {}

        /** Gives up ownership of a claim; false where that was not owned. */
        boolean release(Hold hold) {
            boolean owned = takeOut(hold);
            incomplete |= owned;
            return owned;
        }

        /** Closes all claims; false where that was done before. */
        boolean close() {
            if (closed) {
                return false;
            }
            closed = true;
            for (int i = 0; i < size(); i++) {
                get(i).close();
            }
            return true;
        }

        /** Takes closed claims anew; false, with all closed, if one cannot be {@linkplain RegionLease#renew renewed}. */
        boolean renew() {
            if (incomplete) {
                return false;
            }
            for (int i = 0; i < size(); i++) {
                if (!(get(i) instanceof RegionLease lease && lease.renew())) {
                    for (int renewed = 0; renewed < i; renewed++) {
                        get(renewed).close();
                    }
                    return false;
                }
            }
            closed = false;
            return true;
        }
    }
}
