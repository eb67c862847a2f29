package gatun.examples;

/** The calls that shared memory needs, over HTTP or over gRPC. One thread at a time; closed by its owner. */
interface RegionControl extends AutoCloseable {
    /** Tells the server about an object; the server maps it. */
    void register(SharedPicture shared);

    /** Reads the picture in the object; the answer is in the object when this returns. */
    void infer(SharedPicture shared);

    /** Makes the server forget the object and unmap it. */
    void unregister(SharedPicture shared);

    @Override
    void close();
}
