// SPDX-License-Identifier: Apache-2.0
package gatun.examples;

/** The calls that shared memory needs, over HTTP or over gRPC. One thread at a time; closed by its owner. */
interface RegionControl extends AutoCloseable {
    /** Tells the server about memory; the server maps it. */
    void register(PictureMemory shared);

    /** Reads the picture there; the response is there when this returns. */
    void infer(PictureMemory shared);

    /** Makes the server forget the memory and unmap it. */
    void unregister(PictureMemory shared);

    @Override
    void close();
}
