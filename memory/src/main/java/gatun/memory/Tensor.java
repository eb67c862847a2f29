package gatun.memory;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * A tensor: what it is and where its bytes lie. Borrows the memory: valid while the {@link Hold} that came with it is
 * held, and has no {@code close()} on purpose. The bytes are row-major and little endian; {@code bytes.byteSize()} is the
 * tensor's exact size.
 *
 * @param spec name, datatype and shape
 * @param bytes the data, in native memory
 */
public record Tensor(TensorSpec spec, MemorySegment bytes) {
    /** Checks that nothing is missing. */
    public Tensor {
        Objects.requireNonNull(spec, "spec");
        Objects.requireNonNull(bytes, "bytes");
    }
}
