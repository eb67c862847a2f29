// SPDX-License-Identifier: Apache-2.0
package gatun.it.gpu;

import gatun.memory.cuda.CudaAllocation;
import gatun.memory.cuda.CudaDevices;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * The main class of a {@link CudaClient}: allocates memory of a GPU, tells its handle, and reads and writes it as its
 * input says.
 */
public final class CudaMemoryOwner {
    private static final HexFormat HEX = HexFormat.of();

    private CudaMemoryOwner() {}

    /** The number of the GPU, and how many bytes. Ends by itself only when its input ends. */
    public static void main(String[] arguments) throws IOException {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        CudaAllocation memory = CudaAllocation.of(
                CudaDevices.find().device(Integer.parseInt(arguments[0])).orElseThrow(), Long.parseLong(arguments[1]));
        System.out.println("exported " + HEX.formatHex(memory.handle()));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            switch (words[0]) {
                case "write" -> write(memory, Long.parseLong(words[1]), HEX.parseHex(words[2]));
                case "read" -> read(memory, Long.parseLong(words[1]), Long.parseLong(words[2]));
                case "free" -> memory.close();
                default -> throw new IllegalArgumentException(line);
            }
            System.out.println("done");
        }
    }

    private static void write(CudaAllocation memory, long offset, byte[] bytes) {
        try (Arena arena = Arena.ofConfined()) {
            memory.write(offset, arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes));
        }
    }

    private static void read(CudaAllocation memory, long offset, long byteSize) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment bytes = arena.allocate(byteSize);
            memory.read(offset, bytes);
            System.out.println("content " + HEX.formatHex(bytes.toArray(ValueLayout.JAVA_BYTE)));
        }
    }
}
