// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.runtime.placement.RunPlacement;
import gatun.runtime.ratelimit.RateLimiter;

/**
 * The objects of the server that a model works with.
 *
 * @param pool gives runs memory
 * @param queueLimit how many requests may wait where the configuration sets no limit
 * @param rateLimiter says when instances may run
 * @param trustsClients whether runs touch clients' memory in place whatever the backend says
 * @param placement decides on which threads runs are
 * @param progress is told how far the model's load is
 */
public record ExecutionResources(
        BufferPool pool,
        int queueLimit,
        RateLimiter rateLimiter,
        boolean trustsClients,
        RunPlacement placement,
        LoadWatch progress) {}
