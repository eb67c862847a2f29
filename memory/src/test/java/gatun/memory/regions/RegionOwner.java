// SPDX-License-Identifier: Apache-2.0
package gatun.memory.regions;

import gatun.bindings.Descriptor;
import gatun.bindings.NativeMemory;
import gatun.bindings.Posix;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/**
 * The main class of a client process: makes an object, fills it, and does to it what its input says, answering each
 * line.
 */
final class RegionOwner {
    private RegionOwner() {}

    public static void main(String[] arguments) throws IOException {
        String kind = arguments[0];
        long byteSize = Long.parseLong(arguments[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        switch (kind) {
            case "unsealed" -> offerMemfd(in, byteSize, 7, 0);
            case "write-sealed" -> offerMemfd(in, byteSize, 7, Posix.F_SEAL_SHRINK | Posix.F_SEAL_WRITE);
            case "sparse-sealed" -> offerMemfd(in, byteSize, 0, Posix.F_SEAL_SHRINK);
            default -> {
                try (SharedMemoryObject object = kind.equals("sealed")
                        ? SharedMemoryObject.sealed(byteSize)
                        : SharedMemoryObject.posix(kind, byteSize)) {
                    object.segment().fill((byte) 7);
                    System.out.println("key " + object.key());
                    for (String line = in.readLine(); line != null; line = in.readLine()) {
                        String[] words = line.split(" ", -1);
                        System.out.println(answer(object, words));
                    }
                }
            }
        }
    }

    /** Offers a memfd of a kind that no client should make, until the input ends; 0 leaves it without memory. */
    private static void offerMemfd(BufferedReader in, long byteSize, int content, int seals) throws IOException {
        try (Descriptor object = Posix.memfdCreate("gatun", Posix.MFD_CLOEXEC | Posix.MFD_ALLOW_SEALING)) {
            Posix.ftruncate(object, byteSize);
            if (content != 0) {
                int protection = Posix.PROT_READ | Posix.PROT_WRITE;
                long address = Posix.map(byteSize, protection, Posix.MAP_SHARED, object, 0);
                NativeMemory.segment(address, byteSize).fill((byte) content);
                Posix.munmap(address, byteSize);
            }
            if (seals != 0) {
                Posix.addSeals(object, seals);
            }
            System.out.println("key /proc/" + ProcessHandle.current().pid() + "/fd/" + object.number());
            while (in.readLine() != null) {
                System.out.println("done");
            }
        }
    }

    private static String answer(SharedMemoryObject object, String[] words) {
        return switch (words[0]) {
            case "truncate" -> {
                try {
                    object.resize(Long.parseLong(words[1]));
                    yield "done";
                } catch (RuntimeException e) {
                    yield "refused " + e.getMessage();
                }
            }
            case "flap" -> {
                long byteSize = object.segment().byteSize();
                for (int i = Integer.parseInt(words[1]); i > 0; i--) {
                    object.resize(byteSize / 2);
                    object.resize(byteSize);
                }
                yield "flapped";
            }
            case "byte" -> "is " + object.segment().get(ValueLayout.JAVA_BYTE, Long.parseLong(words[1]));
            default -> throw new IllegalArgumentException(words[0]);
        };
    }
}
