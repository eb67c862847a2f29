// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import gatun.memory.buffers.BufferPool;
import gatun.memory.regions.RegionRegistry;
import gatun.runtime.limits.RequestLimits;
import gatun.runtime.limits.WorkBudgets.HeapBudget;
import gatun.runtime.logging.AccessLog;
import gatun.runtime.logging.AccessLog.RecordedLog.RequestWatch;
import gatun.runtime.logging.LogControl;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.tracing.Tracing;

/** What all requests share: memory, limits, threads, logs and traces. Thread-safe. */
public interface ServerResources {
    /** The shared-memory regions that clients registered. */
    RegionRegistry regions();

    /** The pool that request and response tensors are lent from. */
    BufferPool buffers();

    /** The limits of one request; protocols check them before they build anything from the data of a client. */
    default RequestLimits limits() {
        return RequestLimits.STANDARD;
    }

    /** The budget of Java heap for the long parts of all requests together. */
    HeapBudget heap();

    /** On which threads runs are. */
    default RunPlacement placement() {
        return RunPlacement.of(true);
    }

    /** The log settings, and how clients change them. */
    default LogControl log() {
        return LogControl.fixed();
    }

    /** Which requests are traced; the protocols begin the traces. */
    Tracing tracing();

    /** Where listeners write a line for each request. */
    default AccessLog accessLog() {
        return AccessLog.OFF;
    }

    /** Has {@code watch} told of each request over a listener from now on, in the place of who was before. */
    default void watchRequests(RequestWatch watch) {}
}
