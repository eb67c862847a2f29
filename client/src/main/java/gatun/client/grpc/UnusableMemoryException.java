// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

/**
 * Memory of the caller that was freed while it was sent, or none left for a response: what a call failed of behind
 * gRPC's back.
 */
final class UnusableMemoryException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    UnusableMemoryException(IllegalStateException cause) {
        super(cause.getMessage(), cause);
    }
}
