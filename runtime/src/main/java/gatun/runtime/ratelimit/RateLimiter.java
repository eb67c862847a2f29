// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.ratelimit;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ResourceAmount;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets instances run only while all resources that they ask for are there. Of those that wait the one that has run
 * least goes first, its runs weighed by its priority; those behind it wait, also when there would be enough for them,
 * so that nobody waits for ever. What a resource amounts to is what the operator says, and where he says nothing of any
 * resource the most that any instance asks for. One for all models of a server; safe for any thread; never waits itself.
 */
public final class RateLimiter {
    /** A resource that an instance asks for, {@code count} for a run; {@code global}: all devices share one amount. */
    record Need(String name, boolean global, int count) {}

    /** Where a resource is: on a device, or for all of them. */
    private record Place(String name, int device) {
        static final int GLOBAL = -2;

        static Place of(Need need, int device) {
            return new Place(need.name(), need.global() ? GLOBAL : device);
        }
    }

    private final boolean limits;
    private final Map<Place, Integer> amounts = new HashMap<>();

    /** Guards everything below, and what instances count. */
    private final ReentrantLock lock = new ReentrantLock();

    private final List<RateLimitedInstance> instances = new ArrayList<>();
    private final List<RateLimitedInstance> waiting = new ArrayList<>();

    /** Instances that have just run, and say next whether to run again; until then nobody overtakes them. */
    private final Set<RateLimitedInstance> returning = new HashSet<>();

    private final Map<Place, Integer> used = new HashMap<>();

    private RateLimiter(boolean limits, List<ResourceAmount> amounts) {
        this.limits = limits;
        for (ResourceAmount amount : amounts) {
            this.amounts.put(new Place(amount.name(), amount.device()), amount.count());
        }
    }

    /** Lets every instance run at any time. */
    public static RateLimiter off() {
        return new RateLimiter(false, List.of());
    }

    /** Limits resources to these amounts; without any, each to the most that an instance asks for. */
    public static RateLimiter of(List<ResourceAmount> amounts) {
        return new RateLimiter(true, amounts);
    }

    /** Whether anything is limited. */
    public boolean limits() {
        return limits;
    }

    /** Adds an instance; close it after its last run. Priority 1, or 0, is highest. Throws if it could never run. */
    RateLimitedInstance register(List<Need> needs, int device, int priority) {
        RateLimitedInstance added = new RateLimitedInstance(this, needs, device, Math.max(1, priority));
        lock.lock();
        try {
            checkKinds(added);
            checkAmounts(added);
            instances.add(added);
        } finally {
            lock.unlock();
        }
        return added;
    }

    private void checkKinds(RateLimitedInstance added) {
        Map<String, Boolean> kinds = new TreeMap<>();
        instances.forEach(instance -> instance.needs().forEach(need -> kinds.put(need.name(), need.global())));
        for (Need need : added.needs()) {
            Boolean known = kinds.put(need.name(), need.global());
            if (known != null && known != need.global()) {
                throw GatunException.invalidArgument("Resource \"" + need.name()
                        + "\" is present as both global and device-specific resource in the model configuration.");
            }
        }
    }

    private void checkAmounts(RateLimitedInstance added) {
        for (Need need : added.needs()) {
            int limit = limit(need, added.device());
            if (limit < need.count()) {
                throw GatunException.invalidArgument("Resource count for \"" + need.name() + "\" is limited to " + limit
                        + " which will prevent scheduling of one or more model instances, the minimum required count"
                        + " is "
                        + need.count());
            }
        }
    }

    /** The amount of resource {@code need}: as the operator states it, else the most that any instance asks for. */
    private int limit(Need need, int device) {
        int most = 0;
        if (!amounts.isEmpty()) {
            for (Map.Entry<Place, Integer> stated : amounts.entrySet()) {
                int where = stated.getKey().device();
                if (stated.getKey().name().equals(need.name())
                        && (need.global() || where == device || where == ResourceAmount.EVERY_DEVICE)) {
                    most = Math.max(most, stated.getValue());
                }
            }
            return most;
        }
        most = need.count();
        for (RateLimitedInstance instance : instances) {
            for (Need other : instance.needs()) {
                if (Place.of(other, instance.device()).equals(Place.of(need, device))) {
                    most = Math.max(most, other.count());
                }
            }
        }
        return most;
    }

    /** Whether {@code instance} has what it needs now; otherwise {@code whenGranted} is called when it has. */
    boolean ask(RateLimitedInstance instance, Runnable whenGranted) {
        lock.lock();
        try {
            returning.remove(instance);
            if (!instance.granted() && !waiting.contains(instance)) {
                waiting.add(instance);
                grant();
                if (!instance.granted()) {
                    instance.markWaiting(whenGranted);
                }
            }
            return instance.granted();
        } finally {
            lock.unlock();
        }
    }

    /** Takes back what {@code instance} has, which has run and is to ask again or to {@link #decline}. */
    void recordRun(RateLimitedInstance instance) {
        lock.lock();
        try {
            takeBack(instance, 1);
            returning.add(instance);
        } finally {
            lock.unlock();
        }
    }

    /** Takes back what {@code instance} has, or waits for: it has nothing to run. */
    void decline(RateLimitedInstance instance) {
        lock.lock();
        try {
            takeBack(instance, 0);
            returning.remove(instance);
            grant();
        } finally {
            lock.unlock();
        }
    }

    private void takeBack(RateLimitedInstance instance, int times) {
        if (instance.granted()) {
            use(instance, -1);
        } else {
            waiting.remove(instance);
        }
        instance.end(times);
    }

    /** Forgets {@code instance}, which does not run any more. */
    void remove(RateLimitedInstance instance) {
        lock.lock();
        try {
            instances.remove(instance);
            takeBack(instance, 0);
            returning.remove(instance);
            grant();
        } finally {
            lock.unlock();
        }
    }

    private void grant() {
        while (!waiting.isEmpty() && returning.isEmpty()) {
            RateLimitedInstance next = waiting.getFirst();
            for (RateLimitedInstance candidate : waiting) {
                if (candidate.weighedRuns() < next.weighedRuns()) {
                    next = candidate;
                }
            }
            if (!fits(next)) {
                return;
            }
            waiting.remove(next);
            use(next, 1);
            next.grant();
        }
    }

    private boolean fits(RateLimitedInstance instance) {
        for (Need need : instance.needs()) {
            int taken = used.getOrDefault(Place.of(need, instance.device()), 0);
            if (taken + need.count() > limit(need, instance.device())) {
                return false;
            }
        }
        return true;
    }

    private void use(RateLimitedInstance instance, int sign) {
        for (Need need : instance.needs()) {
            used.merge(Place.of(need, instance.device()), sign * need.count(), Integer::sum);
        }
    }
}
