// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.buffers.BufferPool;
import gatun.runtime.ratelimit.RateLimiter;
import gatun.spi.Tuning.Subject;
import java.util.Set;

/**
 * The server's objects that a model works with. {@code queueLimit} requests may wait where the configuration sets no
 * limit; {@code trustsClients} has runs touch clients' memory in place whatever the backend says; {@code learned} is
 * what its runs may teach.
 */
public record ExecutionResources(
        BufferPool pool,
        int queueLimit,
        RateLimiter rateLimiter,
        boolean trustsClients,
        Set<Subject> learned,
        LoadWatch progress) {}
