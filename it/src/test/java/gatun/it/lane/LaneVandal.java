// SPDX-License-Identifier: Apache-2.0
package gatun.it.lane;

import gatun.memory.lane.LaneGeometry;
import gatun.memory.lane.RingEntry;
import gatun.memory.lane.SlotLayout;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.file.Path;
import java.util.Random;

/**
 * A client in a process of its own that writes random words over the whole of its lane, valid entries among them, until
 * it is killed. Opens another lane whenever the server has ended the last one.
 */
public final class LaneVandal {
    private static final int WRITES = 200_000;

    private LaneVandal() {}

    /** The first argument is the server's socket, the second the seed. */
    public static void main(String[] arguments) throws IOException {
        Random random = new Random(Long.parseLong(arguments[1]));
        for (int round = 0; ; round++) {
            try (RawLane lane = RawLane.open(Path.of(arguments[0]))) {
                int prepared = lane.prepareSimple();
                if (round == 0) {
                    System.out.println("writing");
                }
                write(lane, prepared, random);
            }
        }
    }

    private static void write(RawLane lane, int prepared, Random random) {
        MemorySegment all = lane.all();
        LaneGeometry geometry = lane.geometry;
        for (int i = 0; i < WRITES; i++) {
            int slot = random.nextInt(geometry.slots());
            switch (random.nextInt(8)) {
                // Right numbers among the wrong ones, so that some requests get far.
                case 0 -> lane.memory.submit(RingEntry.of(slot, 1 + random.nextInt(3), random.nextInt(4)));
                case 1 -> lane.request(slot, prepared);
                case 2 -> lane.tensor(slot, random.nextInt(4), random.nextInt(8192), 64, 1, 16);
                case 3 ->
                    lane.memory.setInt(
                            lane.memory.slotOffset(slot) + SlotLayout.PREPARED, random.nextBoolean() ? prepared : i);
                case 4 ->
                    lane.memory.setLong(
                            lane.tensorOffset(slot, random.nextInt(8)) + Long.BYTES * (long) random.nextInt(16),
                            random.nextLong() >> random.nextInt(Long.SIZE));
                case 5 -> {
                    long word = random.nextLong(geometry.slotsOffset(), geometry.byteSize()) / Integer.BYTES;
                    all.setAtIndex(ValueLayout.JAVA_INT, word, random.nextInt());
                }
                case 6 -> {
                    // Any word at all is rare: a wrong entry ends the lane.
                    if (random.nextInt(500) == 0) {
                        long word = random.nextLong(geometry.byteSize()) / Integer.BYTES;
                        all.setAtIndex(ValueLayout.JAVA_INT, word, random.nextInt());
                    }
                }
                default -> Thread.onSpinWait();
            }
        }
    }
}
