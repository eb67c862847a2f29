// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/**
 * How much there is of something that instances need to run.
 *
 * @param name what the configurations call it
 * @param count how much of it there is
 * @param device on which device; {@link #EVERY_DEVICE} for each
 */
public record ResourceAmount(String name, int count, int device) {
    /** Stands for each device by itself, or for all together where the resource is a global one. */
    public static final int EVERY_DEVICE = -1;
}
