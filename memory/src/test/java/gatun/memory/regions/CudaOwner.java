// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

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
 * The main class of a client process: allocates memory of a GPU, fills it, and does to it what its input says,
 * answering each line.
 */
final class CudaOwner {
    private CudaOwner() {}

    public static void main(String[] arguments) throws IOException {
        long byteSize = Long.parseLong(arguments[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        CudaAllocation memory = CudaAllocation.of(
                CudaDevices.find().device(Integer.parseInt(arguments[0])).orElseThrow(), byteSize);
        fill(memory, byteSize, (byte) 7);
        System.out.println("key " + HexFormat.of().formatHex(memory.handle()));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String[] words = line.split(" ", -1);
            System.out.println(
                    switch (words[0]) {
                        case "fill" -> {
                            fill(memory, byteSize, Byte.parseByte(words[1]));
                            yield "done";
                        }
                        case "byte" -> "is " + at(memory, Long.parseLong(words[1]));
                        case "free" -> {
                            memory.close();
                            yield "done";
                        }
                        default -> throw new IllegalArgumentException(line);
                    });
        }
    }

    private static void fill(CudaAllocation memory, long byteSize, byte value) {
        try (Arena arena = Arena.ofConfined()) {
            memory.write(0, arena.allocate(byteSize).fill(value));
        }
    }

    private static byte at(CudaAllocation memory, long offset) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment one = arena.allocate(1);
            memory.read(offset, one);
            return one.get(ValueLayout.JAVA_BYTE, 0);
        }
    }
}
