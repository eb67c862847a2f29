// SPDX-License-Identifier: Apache-2.0
package gatun.backend.trees.files;

import gatun.memory.tensor.GatunException;

/** Checks that nodes are one tree: a run through others would never end, or read what is not there. Stateless. */
final class TreeShape {
    private TreeShape() {}

    /**
     * Checks the nodes' children: no node has two parents, and the first has none.
     *
     * @param children of each node, the left ones or the right ones; those of a leaf are not looked at
     * @param used which nodes have a parent; true is added for each child
     * @throws GatunException INVALID_ARGUMENT for the first node that is wrong
     */
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

    /**
     * Checks a value.
     *
     * @param most the largest that it may have; the smallest is 0
     * @throws GatunException INVALID_ARGUMENT when it is beyond
     */
    static void requireWithin(long value, long most, String tree, String what) {
        if (value < 0 || value > most) {
            throw GatunException.invalidArgument(tree + ": '" + what + "' has " + value + ", expected 0 to " + most);
        }
    }
}
