// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.runtime.ratelimit.RateLimiter;

/**
 * The objects that all models of a server share.
 *
 * @param pool gives runs memory
 * @param queueLimit how many requests may wait where the configuration sets no limit
 * @param rateLimiter says when instances may run
 */
public record ExecutionResources(BufferPool pool, int queueLimit, RateLimiter rateLimiter) {}
