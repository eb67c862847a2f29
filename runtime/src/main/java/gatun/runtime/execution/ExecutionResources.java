// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.runtime.ModelSettings.Runs;
import gatun.runtime.ratelimit.RateLimiter;

/** The server's objects that a model works with, and {@code runs}, the operator's settings for its runs. */
public record ExecutionResources(BufferPool pool, Runs runs, RateLimiter rateLimiter, LoadWatch progress) {}
