// SPDX-License-Identifier: Apache-2.0
package gatun.client;

/**
 * A call to a server that failed, and was not misused: misuse is an {@link IllegalArgumentException} or an
 * {@link IllegalStateException}. The text names the server, the operation, and its outcome.
 */
public abstract sealed class ClientException extends RuntimeException
        permits ServerException, UnreachableException, DeadlineException, MalformedResponseException {
    private static final long serialVersionUID = 1;

    ClientException(String message, Throwable cause) {
        super(message, cause);
    }

    ClientException(String message) {
        super(message);
    }

    /**
     * Whether the server may have carried out the request, wholly or in part; false when it certainly has not. After a
     * step of a sequence that may have been done, the sequence's state is unknown: the client does not make that step
     * again by itself, and whoever does may have it counted twice. Begin the sequence anew instead.
     */
    public abstract boolean mayHaveRun();
}
