// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.execution;

import gatun.memory.cuda.DeviceTransfers;
import gatun.memory.tensor.DeviceMemory;
import gatun.memory.tensor.Tensor;
import java.util.List;
import java.util.Optional;

/** Makes one tensor of several on a GPU, and several of one, with no copy where they lie side by side already. */
final class DeviceBatch {
    private DeviceBatch() {}

    /** A request's share of a batch output, in bytes, and where it belongs; empty when nowhere. */
    record Part(long byteSize, Optional<DeviceMemory> window) {}

    /** Joins inputs, in the order of rows; {@code copied} where the model must not read clients' memory. */
    static DeviceMemory gather(List<Tensor> pieces, boolean copied, DeviceTransfers transfers) {
        if (pieces.size() == 1) {
            return bring(pieces.getFirst(), copied, transfers);
        }
        Optional<DeviceMemory> joined = copied
                ? Optional.empty()
                : join(pieces.stream().map(Tensor::device).toList(), transfers);
        if (joined.isPresent() && DeviceTransfers.isAligned(joined.get())) {
            return joined.get();
        }
        DeviceMemory whole =
                transfers.take(pieces.stream().mapToLong(Tensor::byteSize).sum());
        long at = 0;
        for (Tensor piece : pieces) {
            transfers.fill(whole.slice(at, piece.byteSize()), piece);
            at += piece.byteSize();
        }
        return whole;
    }

    /** An input of one request on the GPU of {@code transfers}; otherwise as {@link #gather}. */
    static DeviceMemory bring(Tensor input, boolean copied, DeviceTransfers transfers) {
        return copied && transfers.isOn(input.device()) ? transfers.copy(input) : transfers.bring(input);
    }

    /** Memory for an output that begins with {@code parts}; {@code copied} if clients' own must not be written. */
    static DeviceMemory share(List<Part> parts, long byteSize, boolean copied, DeviceTransfers transfers) {
        Optional<DeviceMemory> joined = copied
                ? Optional.empty()
                : join(parts.stream().map(Part::window).toList(), transfers);
        if (joined.isPresent() && joined.get().byteSize() == byteSize) {
            return transfers.target(joined.get());
        }
        DeviceMemory whole = transfers.take(byteSize);
        long at = 0;
        for (Part part : parts) {
            DeviceMemory own = whole.slice(at, part.byteSize());
            part.window().ifPresent(window -> transfers.deliver(own, window));
            at += part.byteSize();
        }
        return whole;
    }

    /** All {@code pieces} as one where each begins at the end of the one before, on the GPU of {@code transfers}. */
    private static Optional<DeviceMemory> join(List<Optional<DeviceMemory>> pieces, DeviceTransfers transfers) {
        DeviceMemory joined = null;
        for (Optional<DeviceMemory> piece : pieces) {
            if (!transfers.isOn(piece)) {
                return Optional.empty();
            }
            DeviceMemory next = piece.orElseThrow();
            if (joined == null) {
                joined = next;
            } else if (joined.isFollowedBy(next)) {
                joined = new DeviceMemory(joined.device(), joined.address(), joined.byteSize() + next.byteSize());
            } else {
                return Optional.empty();
            }
        }
        return Optional.ofNullable(joined);
    }
}
