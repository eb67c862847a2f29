// SPDX-License-Identifier: Apache-2.0
package gatun.it.sharedmemory;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HexFormat;

/**
 * A client in a process of its own that writes one content and another to a place of shared memory, in turns and as fast
 * as it can, until it is killed. Each line of its input names the next place: the offset in bytes, and both contents in
 * hexadecimal, of one length.
 */
public final class MemoryFlipper {
    private static final Flip NOTHING = new Flip(MemorySegment.NULL, MemorySegment.NULL, MemorySegment.NULL);

    private static volatile Flip wanted = NOTHING;

    /** What is flipped: once it is as wanted, nothing is written anywhere else. */
    private static volatile Flip present = NOTHING;

    private record Flip(MemorySegment place, MemorySegment first, MemorySegment second) {}

    private MemoryFlipper() {}

    /** The argument is the object's file. */
    public static void main(String[] arguments) throws IOException {
        try (FileChannel file =
                        FileChannel.open(Path.of(arguments[0]), StandardOpenOption.READ, StandardOpenOption.WRITE);
                BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            MemorySegment whole = file.map(FileChannel.MapMode.READ_WRITE, 0, file.size(), Arena.global());
            Thread.ofPlatform().daemon().name("flipper").start(MemoryFlipper::flip);
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" ", -1);
                MemorySegment first = content(words[1]);
                MemorySegment place = whole.asSlice(Long.parseLong(words[0]), first.byteSize());
                Flip next = new Flip(place, first, content(words[2]));
                wanted = next;
                while (!present.equals(next)) {
                    Thread.onSpinWait();
                }
                System.out.println("flipping");
            }
        }
    }

    private static void flip() {
        while (true) {
            Flip flip = wanted;
            present = flip;
            flip.place().copyFrom(flip.first());
            flip.place().copyFrom(flip.second());
        }
    }

    private static MemorySegment content(String hexadecimal) {
        return Arena.global().allocateFrom(ValueLayout.JAVA_BYTE, HexFormat.of().parseHex(hexadecimal));
    }
}
