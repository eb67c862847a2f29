// SPDX-License-Identifier: Apache-2.0
package gatun.http;

import gatun.http.metrics.ShownMetrics;
import gatun.http.tensorflow.TensorFlowSettings;
import gatun.runtime.access.HeaderRules;
import java.util.Set;

/**
 * What the HTTP edge can be set to.
 *
 * @param maxInputByteSize the most bytes of JSON, of a raw input, or of a decompressed body that a request may have
 * @param clientSharedMemory whether clients may register shared memory
 * @param metrics what the metrics show
 * @param headers which requests need which headers, and what of them models learn
 * @param patience how long clients are waited for
 * @param tensorFlow how TensorFlow Serving's protocol is spoken
 * @param allowedOrigins pages of which other servers a browser lets read answers, by their origins; {@code *} for any
 */
public record HttpSettings(
        long maxInputByteSize,
        boolean clientSharedMemory,
        ShownMetrics metrics,
        HeaderRules headers,
        Patience patience,
        TensorFlowSettings tensorFlow,
        Set<String> allowedOrigins) {
    /** What Triton allows by default: 64 MiB. */
    public static final long DEFAULT_MAX_INPUT_BYTE_SIZE = 64L << 20;

    /** Settings with the standard metrics, nothing restricted and nothing forwarded. */
    public HttpSettings(long maxInputByteSize, boolean clientSharedMemory) {
        this(
                maxInputByteSize,
                clientSharedMemory,
                ShownMetrics.STANDARD,
                HeaderRules.none(),
                Patience.STANDARD,
                TensorFlowSettings.STANDARD,
                Set.of());
    }

    /** The same with other rules for headers. */
    public HttpSettings withHeaders(HeaderRules other) {
        return new HttpSettings(
                maxInputByteSize, clientSharedMemory, metrics, other, patience, tensorFlow, allowedOrigins);
    }

    /** The same with other patience for slow clients. */
    public HttpSettings withPatience(Patience other) {
        return new HttpSettings(
                maxInputByteSize, clientSharedMemory, metrics, headers, other, tensorFlow, allowedOrigins);
    }

    /** The same with other pages let in. */
    public HttpSettings withAllowedOrigins(Set<String> other) {
        return new HttpSettings(maxInputByteSize, clientSharedMemory, metrics, headers, patience, tensorFlow, other);
    }

    /** The same, speaking TensorFlow Serving's protocol otherwise. */
    public HttpSettings withTensorFlow(TensorFlowSettings other) {
        return new HttpSettings(
                maxInputByteSize, clientSharedMemory, metrics, headers, patience, other, allowedOrigins);
    }

    /** Checks the limits, and keeps a copy of the origins. */
    public HttpSettings {
        allowedOrigins = Set.copyOf(allowedOrigins);
        if (maxInputByteSize < 1) {
            throw new IllegalArgumentException(
                    "the maximum input size is " + maxInputByteSize + " bytes: expected at least 1");
        }
    }
}
