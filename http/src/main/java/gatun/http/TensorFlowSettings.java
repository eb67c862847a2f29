package gatun.http;

import java.time.Duration;

/**
 * What TensorFlow Serving's protocol over HTTP can be set to.
 *
 * @param anyOrigin whether a browser lets pages of any server read the answers
 * @param timeout how long a model may take for a request
 */
public record TensorFlowSettings(boolean anyOrigin, Duration timeout) {
    /** What TensorFlow Serving does by default: no other pages, and half a minute. */
    public static final TensorFlowSettings STANDARD = new TensorFlowSettings(false, Duration.ofSeconds(30));
}
