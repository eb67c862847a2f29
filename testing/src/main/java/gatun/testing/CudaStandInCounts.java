// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import gatun.testing.CudaStandIn.Count;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;

/**
 * The counters of the stand-in for CUDA's driver in another process, which was started with
 * {@code GATUN_STANDIN_COUNTS} naming this file.
 *
 * @param file written by the stand-in from its first call on
 */
public record CudaStandInCounts(Path file) {
    /** The variable that tells a process where to count. */
    public static final String VARIABLE = "GATUN_STANDIN_COUNTS";

    /** The number of this moment; 0 before the process has called CUDA. */
    @SuppressWarnings("EnumOrdinal") // the order of the file is that of the enum
    public long count(Count what) {
        try {
            ByteBuffer counts = ByteBuffer.wrap(Files.exists(file) ? Files.readAllBytes(file) : new byte[0])
                    .order(ByteOrder.nativeOrder());
            int offset = what.ordinal() * Long.BYTES;
            return offset < counts.capacity() ? counts.getLong(offset) : 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** All that is held now. */
    public Map<Count, Long> held() {
        Map<Count, Long> held = new EnumMap<>(Count.class);
        for (Count what : Count.values()) {
            if (what.isHeld()) {
                held.put(what, count(what));
            }
        }
        return held;
    }
}
