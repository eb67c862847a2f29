// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

/** A model took longer than requests of this protocol may take. */
final class ModelTimeout extends RuntimeException {
    private static final long serialVersionUID = 1;

    ModelTimeout(String message) {
        super(message, null, false, false);
    }
}
