// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

/** What a client did that ended its connection before its time. */
public enum ClientError {
    /** The TLS handshake failed, or a record was not TLS. */
    TLS("tls", true),
    /** What it sent is not the protocol. */
    MALFORMED("malformed", true),
    /** It sent more of what costs it nothing than the server takes. */
    FLOOD("flood", true),
    /** It kept the server waiting for too long. */
    TIMEOUT("timeout", false),
    /** It left amid a request or an answer. */
    DISCONNECTED("disconnected", false);

    private final String label;
    private final boolean told;

    ClientError(String label, boolean told) {
        this.label = label;
        this.told = told;
    }

    /** Its name in metrics. */
    public String label() {
        return label;
    }

    /** Whether the log tells of it: leaving and being slow are too common. */
    boolean isTold() {
        return told;
    }
}
