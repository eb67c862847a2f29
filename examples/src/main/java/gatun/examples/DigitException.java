// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

/** An error with a text for the person at the terminal: its stack trace is not worth showing. */
final class DigitException extends RuntimeException {
    private static final long serialVersionUID = 1;

    DigitException(String message) {
        super(message);
    }

    DigitException(String message, Throwable cause) {
        super(message, cause);
    }

    /** Nobody listens there; says how to start a server. */
    static DigitException noServer(String address, Throwable cause) {
        return new DigitException(
                "No server answers at " + address
                        + ". Start one with: ./gatun serve --model-repository=examples/models --allow-client-shm=true",
                cause);
    }
}
