// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

/** A graph that is not followed to its end. The message says why, and continues "copied:". */
final class UnreadableGraphException extends RuntimeException {
    private static final long serialVersionUID = 1;
    static final String TOO_LARGE = "the graph is too large to follow";

    UnreadableGraphException(String message) {
        // The stack tells nobody anything, and a hostile file would have it made for each load.
        super(message, null, false, false);
    }
}
