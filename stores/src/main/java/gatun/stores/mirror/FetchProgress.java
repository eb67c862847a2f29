// SPDX-License-Identifier: Apache-2.0
package gatun.stores.mirror;

/** Is told how far fetching is. Safe for any thread. */
public interface FetchProgress {
    /** Nobody looks. */
    FetchProgress NONE = new FetchProgress() {
        @Override
        public void begin(String what, int files, long byteSize) {}

        @Override
        public void add(long byteCount) {}

        @Override
        public void end() {}
    };

    /** So many files are fetched from now on. */
    void begin(String what, int files, long byteSize);

    /** So many bytes have come. */
    void add(long byteCount);

    /** No more come. */
    void end();
}
