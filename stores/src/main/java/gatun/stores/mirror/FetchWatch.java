// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** Tells those who look what is fetched now, and another all that it is told. Safe for any thread. */
public final class FetchWatch implements FetchProgress {
    private final FetchProgress other;
    private final Set<Running> running = ConcurrentHashMap.newKeySet();

    /** Tells {@code other} what it is told. */
    public FetchWatch(FetchProgress other) {
        this.other = other;
    }

    /** Files fetched together. {@code models} are those that are known; {@code beganMillis} is since 1970. */
    public record State(Set<String> models, long bytes, long totalBytes, long beganMillis) {
        /** Keeps a copy. */
        public State {
            models = Set.copyOf(models);
        }
    }

    private final class Running implements Fetch {
        private final Set<String> models;
        private final long byteSize;
        private final Fetch told;
        private final long beganMillis = System.currentTimeMillis();
        private final AtomicLong bytes = new AtomicLong();

        Running(Set<String> models, long byteSize, Fetch told) {
            this.models = Set.copyOf(models);
            this.byteSize = byteSize;
            this.told = told;
        }

        @Override
        public void add(long byteCount) {
            bytes.addAndGet(byteCount);
            told.add(byteCount);
        }

        @Override
        public void close() {
            running.remove(this);
            told.close();
        }

        State state() {
            return new State(models, bytes.get(), byteSize, beganMillis);
        }
    }

    @Override
    public Fetch begin(String what, Set<String> models, int files, long byteSize) {
        Running added = new Running(models, byteSize, other.begin(what, models, files, byteSize));
        running.add(added);
        return added;
    }

    /** What is fetched now, in no order. */
    public List<State> running() {
        return running.stream().map(Running::state).toList();
    }
}
