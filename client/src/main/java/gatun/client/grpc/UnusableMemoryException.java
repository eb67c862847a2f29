// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

/**
 * Memory of the caller that was freed while it was sent, or none left for a response: the reason for a failure that
 * gRPC does not report.
 */
final class UnusableMemoryException extends IllegalStateException {
    private static final long serialVersionUID = 1;

    UnusableMemoryException(IllegalStateException cause) {
        super(cause.getMessage(), cause);
    }
}
