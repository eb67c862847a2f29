// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

import java.util.Set;

/** Receives the progress of fetches. Thread-safe. */
public interface FetchProgress {
    /** Ignores the progress. */
    FetchProgress NONE = (what, models, files, byteSize) -> new Fetch() {
        @Override
        public void add(long byteCount) {}

        @Override
        public void close() {}
    };

    /** Begins a fetch of files from {@code what}, for people, which ends when the result is closed. */
    Fetch begin(String what, Set<String> models, int files, long byteSize);

    /** Files that are fetched together; closed when no more of them come. Safe for any thread. */
    interface Fetch extends AutoCloseable {
        /** So many bytes have come. */
        void add(long byteCount);

        @Override
        void close();
    }
}
