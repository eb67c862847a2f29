// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.limits;

/**
 * The limits for models that clients bring. Checked before anything is made of it.
 *
 * @param models how many models there may be for a load request to bring the files of another
 * @param instances the most instances of a model, those of all its groups together
 * @param warmUpByteSize the most bytes of the inputs of one warm-up sample, those in files included
 */
public record ModelLimits(int models, int instances, long warmUpByteSize) {
    /** More instances than any machine has cores, and as much for warming up as the default buffer pool. */
    public static final ModelLimits STANDARD = new ModelLimits(16_384, 1024, 256L << 20);

    /** Checks that each limit lets something through. */
    public ModelLimits {
        if (models < 1) {
            throw new IllegalArgumentException("the limit of models is " + models + ": expected at least 1");
        }
        if (instances < 1) {
            throw new IllegalArgumentException(
                    "the limit of a model's instances is " + instances + ": expected at least 1");
        }
        if (warmUpByteSize < 1) {
            throw new IllegalArgumentException(
                    "the limit of bytes of a warm-up sample is " + warmUpByteSize + ": expected at least 1");
        }
    }
}
