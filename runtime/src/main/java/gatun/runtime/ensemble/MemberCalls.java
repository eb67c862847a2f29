// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ensemble;

import gatun.memory.tensor.GatunException;
import gatun.runtime.InferenceRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** The requests to members of one request to an ensemble, and their first failure. Thread-safe. */
final class MemberCalls {
    private final ReentrantLock lock = new ReentrantLock();

    // Guarded by lock.
    private final List<InferenceRequest> underWay = new ArrayList<>();
    private boolean stopped;
    private @Nullable GatunException failure;

    /** Notes a request that is about to be made; false when none is to be made any more. */
    boolean begin(InferenceRequest member) {
        lock.lock();
        try {
            if (!stopped) {
                underWay.add(member);
            }
            return !stopped;
        } finally {
            lock.unlock();
        }
    }

    @SuppressWarnings("ReferenceEquality") // it is that very request
    void end(InferenceRequest member) {
        lock.lock();
        try {
            underWay.removeIf(request -> request == member);
        } finally {
            lock.unlock();
        }
    }

    /** Gives up the calls under way and those to come; only the first call does anything. */
    void stop(GatunException reason) {
        List<InferenceRequest> unwanted;
        lock.lock();
        try {
            if (stopped) {
                return;
            }
            stopped = true;
            failure = reason;
            unwanted = List.copyOf(underWay);
        } finally {
            lock.unlock();
        }
        unwanted.forEach(member -> member.cancellation().cancel());
    }

    /** Whether no request is to be made any more. */
    boolean isStopped() {
        lock.lock();
        try {
            return stopped;
        } finally {
            lock.unlock();
        }
    }

    /** Throws the reason why the calls were stopped, if they were. */
    void check() {
        lock.lock();
        try {
            if (failure != null) {
                throw failure;
            }
        } finally {
            lock.unlock();
        }
    }
}
