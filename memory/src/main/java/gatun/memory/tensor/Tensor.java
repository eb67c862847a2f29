// SPDX-License-Identifier: Apache-2.0
package gatun.memory.tensor;

import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A tensor: what it is and where its bytes lie. Borrows the memory: valid while the {@link Hold} that came with it is
 * held, and has no {@code close()} on purpose. The bytes are row-major and little endian. Immutable, and as safe for
 * several threads as its memory is.
 */
public final class Tensor {
    private final TensorSpec spec;
    private final @Nullable MemorySegment bytes;
    private final @Nullable RegionLease window;
    private final long byteSize;
    private final boolean shared;

    private Tensor(
            TensorSpec spec,
            @Nullable MemorySegment bytes,
            @Nullable RegionLease window,
            long byteSize,
            boolean shared) {
        this.spec = Objects.requireNonNull(spec, "spec");
        this.bytes = bytes;
        this.window = window;
        this.byteSize = byteSize;
        this.shared = shared;
    }

    /** A tensor in native memory; {@code bytes} are exactly of its size. */
    public Tensor(TensorSpec spec, MemorySegment bytes) {
        this(spec, Objects.requireNonNull(bytes, "bytes"), null, bytes.byteSize(), false);
    }

    /** A tensor that fills the window of a region, be it system memory or that of a GPU. */
    public static Tensor inRegion(TensorSpec spec, RegionLease window) {
        return inRegion(spec, window, window.byteSize());
    }

    /** A tensor at the beginning of a region's window. Throws IndexOutOfBoundsException when that is smaller. */
    public static Tensor inRegion(TensorSpec spec, RegionLease window, long byteSize) {
        if (window.device().isEmpty()) {
            return new Tensor(spec, window.target(byteSize), null, byteSize, window.isShared());
        }
        Objects.checkFromIndexSize(0, byteSize, window.byteSize());
        return new Tensor(spec, null, window, byteSize, false);
    }

    /** The same data as another tensor: other name, or other shape of as many elements. */
    public Tensor as(TensorSpec other) {
        return new Tensor(other, bytes, window, byteSize, shared);
    }

    /**
     * The {@code length} bytes from {@code offset} on as a tensor of their own, in memory that the processor can read.
     *
     * @throws IndexOutOfBoundsException when they do not lie inside
     * @throws GatunException as {@link #bytes}
     */
    public Tensor slice(TensorSpec part, long offset, long length) {
        return new Tensor(part, bytes().asSlice(offset, length), null, length, shared);
    }

    /** Name, datatype and shape. */
    public TensorSpec spec() {
        return spec;
    }

    /**
     * The data, in native memory that the processor can read. What lies on a GPU is copied for that by the first call:
     * see {@link #device}.
     *
     * @throws GatunException when it cannot be copied
     */
    public MemorySegment bytes() {
        if (bytes != null) {
            return bytes;
        }
        return Objects.requireNonNull(window, "a tensor has bytes or a window")
                .segment()
                .asSlice(0, byteSize);
    }

    /** The exact size of the data, in bytes. Touches nothing. */
    public long byteSize() {
        return byteSize;
    }

    /** Where the data lies on a GPU; empty where it is in system memory. */
    public Optional<DeviceMemory> device() {
        return window == null ? Optional.empty() : window.device().map(memory -> memory.slice(0, byteSize));
    }

    /** Whether a client can still write the {@link #bytes}; false of a copy from a GPU. */
    public boolean isShared() {
        return shared;
    }

    /** Whether the data lies in that window of a region. Touches nothing. */
    @SuppressWarnings("ReferenceEquality") // a window is itself only
    public boolean liesIn(RegionLease lease) {
        if (bytes == null) {
            return window == lease;
        }
        if (lease.device().isPresent()) {
            return false;
        }
        long offset = bytes.address() - lease.segment().address();
        return offset >= 0 && offset < Math.max(1, lease.byteSize());
    }

    /** Name, datatype, shape, and the first elements where they are in memory that no client can write. */
    @Override
    public String toString() {
        return TensorText.of(this);
    }
}
