// SPDX-License-Identifier: Apache-2.0
package gatun.cloud;

import io.helidon.http.HeaderName;
import io.helidon.http.HeaderNames;
import java.util.Map;
import java.util.Optional;

/** The headers of v2's inference requests that come in another form. */
public final class InferenceHeaders {
    private static final HeaderName JSON_LENGTH = HeaderNames.create("Inference-Header-Content-Length");

    private InferenceHeaders() {}

    /**
     * The headers that stand for those of a client. Bodies and responses are not compressed.
     *
     * @param jsonByteSize the length of the JSON before the bytes of tensors, in decimal; empty where all is JSON
     */
    public static Map<HeaderName, Optional<String>> of(Optional<String> jsonByteSize) {
        return Map.of(
                JSON_LENGTH,
                jsonByteSize,
                HeaderNames.CONTENT_ENCODING,
                Optional.empty(),
                HeaderNames.ACCEPT_ENCODING,
                Optional.empty());
    }
}
