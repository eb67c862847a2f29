// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import gatun.memory.tensor.GatunException;

/** Checks that nodes are one tree: a run through others would never end, or read what is not there. Stateless. */
final class TreeShape {
    private TreeShape() {}

    /** Checks left or right children: none has two parents, the first node none. Marks them in {@code used}. */
    static void check(int[] children, boolean[] used, boolean[] isLeaf, String tree) {
        for (int i = 0; i < children.length; i++) {
            if (isLeaf[i]) {
                continue;
            }
            int child = children[i];
            if (child <= 0 || child >= used.length) {
                throw GatunException.invalidArgument(
                        tree + ": node " + i + " has child " + child + ", expected 1 to " + (used.length - 1));
            }
            if (used[child]) {
                throw GatunException.invalidArgument(tree + ": node " + child + " is the child of two nodes");
            }
            used[child] = true;
        }
    }

    /** Checks how many values a tree has. Throws {@link GatunException} INVALID_ARGUMENT when it is another number. */
    static void requireCount(long found, long expected, String tree, String what) {
        if (found != expected) {
            throw GatunException.invalidArgument(
                    tree + ": '" + what + "' has " + found + " values, expected " + expected);
        }
    }

    /** Checks a value's range, from 0. Throws {@link GatunException} INVALID_ARGUMENT when it is beyond. */
    static void requireWithin(long value, long most, String tree, String what) {
        if (value < 0 || value > most) {
            throw GatunException.invalidArgument(tree + ": '" + what + "' has " + value + ", expected 0 to " + most);
        }
    }
}
