// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

/** The kinds of detail that a trace can have. */
public enum TraceLevel {
    /** When a request reached each stage. */
    TIMESTAMPS,
    /** The elements of its tensors as well. */
    TENSORS
}
