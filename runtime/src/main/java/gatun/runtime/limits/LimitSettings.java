// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.limits;

/**
 * The limits of what clients may have the server make, beside tensors, which the buffer pool bounds.
 *
 * @param request the limits for one request
 * @param model the limits for one model's configuration
 * @param heapByteSize the most bytes of the Java heap that all requests together may take for what is long in them
 */
public record LimitSettings(RequestLimits request, ModelLimits model, long heapByteSize) {
    /** The share of the Java heap that long parts of requests may take by default. */
    private static final int HEAP_SHARE = 4;

    /** Checks the size. */
    public LimitSettings {
        if (heapByteSize < 1) {
            throw new IllegalArgumentException(
                    "the heap budget of requests is " + heapByteSize + " bytes: expected at least 1");
        }
    }

    /** The defaults; the heap budget is a quarter of the largest heap that this JVM may have. */
    public static LimitSettings standard() {
        return new LimitSettings(RequestLimits.STANDARD, ModelLimits.STANDARD, standardHeapByteSize());
    }

    /** A quarter of the largest heap that this JVM may have, in bytes. */
    public static long standardHeapByteSize() {
        return Runtime.getRuntime().maxMemory() / HEAP_SHARE;
    }

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
}
