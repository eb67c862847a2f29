package gatun.memory;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;

/** The main class of a client process: makes an object, fills it, and does to it what its input says, answering each line. */
final class RegionOwner {
    private RegionOwner() {}

    public static void main(String[] arguments) throws IOException {
        long byteSize = Long.parseLong(arguments[1]);
        try (SharedMemoryObject object = arguments[0].equals("sealed")
                        ? SharedMemoryObject.sealed(byteSize)
                        : SharedMemoryObject.posix(arguments[0], byteSize);
                BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
            object.segment().fill((byte) 7);
            System.out.println("key " + object.key());
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String[] words = line.split(" ", -1);
                System.out.println(answer(object, words));
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
            case "byte" -> "is " + object.segment().get(ValueLayout.JAVA_BYTE, Long.parseLong(words[1]));
            default -> throw new IllegalArgumentException(words[0]);
        };
    }
}
