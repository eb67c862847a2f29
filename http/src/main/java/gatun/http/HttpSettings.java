package gatun.http;

import gatun.runtime.access.ApiAccess;
import gatun.runtime.access.HeaderForwarding;

/**
 * What the HTTP edge can be set to.
 *
 * @param maxInputByteSize the most bytes of JSON, of a raw input, or of a decompressed body that a request may have
 * @param clientSharedMemory whether clients may register shared memory
 * @param metrics what the metrics show
 * @param access which requests need a header or a token
 * @param forwarding which headers become parameters of inference requests
 */
public record HttpSettings(
        long maxInputByteSize,
        boolean clientSharedMemory,
        ShownMetrics metrics,
        ApiAccess access,
        HeaderForwarding forwarding) {
    /** What Triton allows by default: 64 MiB. */
    public static final long DEFAULT_MAX_INPUT_BYTE_SIZE = 64L << 20;

    /** Settings with the standard metrics, nothing restricted and nothing forwarded. */
    public HttpSettings(long maxInputByteSize, boolean clientSharedMemory) {
        this(maxInputByteSize, clientSharedMemory, ShownMetrics.STANDARD, ApiAccess.open(), HeaderForwarding.none());
    }

    /** The same with other restrictions. */
    public HttpSettings withAccess(ApiAccess other) {
        return new HttpSettings(maxInputByteSize, clientSharedMemory, metrics, other, forwarding);
    }

    /** The same with other headers forwarded. */
    public HttpSettings withForwarding(HeaderForwarding other) {
        return new HttpSettings(maxInputByteSize, clientSharedMemory, metrics, access, other);
    }

    /** Checks the limit. */
    public HttpSettings {
        if (maxInputByteSize < 1) {
            throw new IllegalArgumentException(
                    "the maximum input size is " + maxInputByteSize + " bytes: expected at least 1");
        }
    }
}
