// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

/** The faults of a client that end its connection early. */
public enum ClientError {
    /** The TLS handshake failed, or a record was not TLS. */
    TLS("tls", true),
    /** It sent something that is not the protocol. */
    MALFORMED("malformed", true),
    /** It sent too much of what costs a client nothing. */
    FLOOD("flood", true),
    /** It kept the server waiting for too long. */
    TIMEOUT("timeout", false),
    /** It left in the middle of a request or a response. */
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

    /** Whether it is logged: leaving and being slow are too common for that. */
    boolean isTold() {
        return told;
    }
}
