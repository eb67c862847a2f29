// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import java.util.Set;

/** Is told how far fetching is. Safe for any thread. */
public interface FetchProgress {
    /** Nobody looks. */
    FetchProgress NONE = (what, models, files, byteSize) -> new Fetch() {
        @Override
        public void add(long byteCount) {}

        @Override
        public void close() {}
    };

    /**
     * So many files are fetched from now on, until the result is closed.
     *
     * @param what the place that they are in, for people
     * @param models the names of the models that they belong to, as far as they are known
     * @param byteSize the size of all
     */
    Fetch begin(String what, Set<String> models, int files, long byteSize);

    /** Files that are fetched together; closed when no more of them come. Safe for any thread. */
    interface Fetch extends AutoCloseable {
        /** So many bytes have come. */
        void add(long byteCount);

        @Override
        void close();
    }
}
