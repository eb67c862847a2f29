package gatun.http;

/**
 * What the HTTP edge can be set to.
 *
 * @param maxInputByteSize the most bytes of JSON, of a raw input, or of a decompressed body that a request may have
 * @param clientSharedMemory whether clients may register shared memory
 * @param metrics what the metrics show
 */
public record HttpSettings(long maxInputByteSize, boolean clientSharedMemory, ShownMetrics metrics) {
    /** What Triton allows by default: 64 MiB. */
    public static final long DEFAULT_MAX_INPUT_BYTE_SIZE = 64L << 20;

    /** Settings with the standard metrics. */
    public HttpSettings(long maxInputByteSize, boolean clientSharedMemory) {
        this(maxInputByteSize, clientSharedMemory, ShownMetrics.STANDARD);
    }

    /** Checks the limit. */
    public HttpSettings {
        if (maxInputByteSize < 1) {
            throw new IllegalArgumentException(
                    "the maximum input size is " + maxInputByteSize + " bytes: expected at least 1");
        }
    }
}
