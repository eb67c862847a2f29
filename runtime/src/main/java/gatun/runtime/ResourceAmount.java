// SPDX-License-Identifier: Apache-2.0
package gatun.runtime;

/** An amount of something that instances need to run, on a device or on {@link #EVERY_DEVICE}. */
public record ResourceAmount(String name, int count, int device) {
    /** Stands for each device by itself, or for all together where the resource is a global one. */
    public static final int EVERY_DEVICE = -1;
}
