// SPDX-License-Identifier: Apache-2.0
package gatun.server.sharedmemory;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;

/**
 * A client in a process of its own that writes one content and another to a place of shared memory, in turns and as fast
 * as it can, until it is killed.
 */
public final class MemoryFlipper {
    private MemoryFlipper() {}

    /** The arguments are the object's file, the offset in bytes, and both contents in hexadecimal, of one length. */
    public static void main(String[] arguments) throws IOException {
        try (FileChannel file =
                FileChannel.open(Path.of(arguments[0]), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            MemorySegment whole = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size(), Arena.global());
            MemorySegment first = content(arguments[2]);
            MemorySegment second = content(arguments[3]);
            MemorySegment place = whole.asSlice(Long.parseLong(arguments[1]), first.byteSize());
            System.out.println("flipping");
            while (true) {
                place.copyFrom(first);
                place.copyFrom(second);
            }
        }
    }

    private static MemorySegment content(String hexadecimal) {
        return Arena.global().allocateFrom(ValueLayout.JAVA_BYTE, HexFormat.of().parseHex(hexadecimal));
    }
}
