// SPDX-License-Identifier: Apache-2.0
package gatun.v2.lane;

import gatun.memory.lane.LaneMemory;
import gatun.memory.lane.SlotLayout;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The server's copy of a slot's request: each word read once and checked here. Not thread-safe. */
final class SlotRequest {
    private static final int HEAD_WORDS = (int) ((SlotLayout.ANSWER - SlotLayout.REQUEST) / Long.BYTES);
    private static final int TENSOR_WORDS = (int) (SlotLayout.TENSOR_BYTES / Long.BYTES);
    private static final int DIMS_WORD = (int) (SlotLayout.DIMS / Long.BYTES);
    /** A window and a shape; the rest of a tensor's words are the server's. */
    private static final int ASKED_WORDS = DIMS_WORD + SlotLayout.MAX_RANK;

    private final long[] head = new long[HEAD_WORDS];
    private final byte[] text = new byte[SlotLayout.REQUEST_TEXT_BYTES];
    private final long[] tensor = new long[ASKED_WORDS];
    private long[] tensors = {};
    private int tensorCount;
    /** The spec of each input as it was last, since most requests have the shapes of the one before. */
    private @Nullable TensorSpec[] specs = {};

    /** Bytes of heap for a slot of so many tensors, with the request that is kept to be asked again, roughly. */
    static long heapByteSize(int tensors) {
        return 2560 + (long) tensors * (SlotLayout.TENSOR_BYTES + 352);
    }

    /** Reads the numbers of a slot; its tensors are read when it is known how many there are. */
    void readHead(LaneMemory lane, long slotOffset) {
        lane.getLongs(slotOffset + SlotLayout.REQUEST, head, HEAD_WORDS);
    }

    /** Reads the tensors of a slot; returns whether any is another than before. */
    boolean readTensors(LaneMemory lane, long slotOffset, int count) {
        boolean changed = count != tensorCount;
        tensorCount = count;
        if (tensors.length < count * TENSOR_WORDS) {
            tensors = new long[count * TENSOR_WORDS];
            specs = new TensorSpec[count];
        }
        for (int i = 0; i < count; i++) {
            lane.getLongs(slotOffset + SlotLayout.TENSORS + i * SlotLayout.TENSOR_BYTES, tensor, ASKED_WORDS);
            int begin = i * TENSOR_WORDS;
            if (!Arrays.equals(tensor, 0, ASKED_WORDS, tensors, begin, begin + ASKED_WORDS)) {
                System.arraycopy(tensor, 0, tensors, begin, ASKED_WORDS);
                changed = true;
            }
        }
        return changed;
    }

    /** Reads a slot's texts, if any. Throws {@link GatunException} INVALID_ARGUMENT when they are too long. */
    void readTexts(LaneMemory lane, long slotOffset) {
        int idBytes = idBytes();
        int sequenceBytes = sequenceBytes();
        if (idBytes < 0
                || sequenceBytes < 0
                || idBytes > SlotLayout.REQUEST_TEXT_BYTES
                || sequenceBytes > SlotLayout.REQUEST_TEXT_BYTES - idBytes) {
            throw GatunException.invalidArgument(
                    "the texts of a slot have " + Integer.toUnsignedString(idBytes) + " and "
                            + Integer.toUnsignedString(sequenceBytes) + " bytes: expected at most "
                            + SlotLayout.REQUEST_TEXT_BYTES + " together");
        }
        if (idBytes + sequenceBytes > 0) {
            lane.getBytes(slotOffset + SlotLayout.REQUEST_TEXT, text, idBytes + sequenceBytes);
        }
    }

    /** Whether it says nothing but which prepared request it is, its tensors and its time. */
    boolean isPlain() {
        return flags() == 0 && sequence() == 0 && word(SlotLayout.ID_BYTES) == 0;
    }

    int prepared() {
        return low(word(SlotLayout.PREPARED));
    }

    boolean startsSequence() {
        return (flags() & SlotLayout.SEQUENCE_START) != 0;
    }

    boolean endsSequence() {
        return (flags() & SlotLayout.SEQUENCE_END) != 0;
    }

    /** Whether the sequence has a name instead of a number. */
    boolean namesSequence() {
        return (flags() & SlotLayout.SEQUENCE_TEXT) != 0;
    }

    /** The number of the sequence; 0 for none. */
    long sequence() {
        return word(SlotLayout.SEQUENCE);
    }

    /** The name of the sequence; empty for none. */
    String sequenceName() {
        return new String(text, idBytes(), sequenceBytes(), StandardCharsets.UTF_8);
    }

    /** The request's id; empty for none. */
    String id() {
        return idBytes() == 0 ? "" : new String(text, 0, idBytes(), StandardCharsets.UTF_8);
    }

    /** When the client stops waiting, as a reading of {@link System#nanoTime}; 0 for never. */
    long deadline() {
        return word(SlotLayout.DEADLINE);
    }

    boolean deadlineHasPassed() {
        return deadline() != 0 && System.nanoTime() - deadline() >= 0;
    }

    /** The core that the client hands over while it waits, from 0; negative where it does not. */
    int callerCore() {
        return low(word(SlotLayout.CALLER_CORE)) - 1;
    }

    int region(int index) {
        return low(tensorWord(index, SlotLayout.REGION));
    }

    long offset(int index) {
        return tensorWord(index, SlotLayout.OFFSET);
    }

    long byteSize(int index) {
        return tensorWord(index, SlotLayout.BYTE_SIZE);
    }

    /** Name, datatype and shape of an input. Throws GatunException INVALID_ARGUMENT for too many dimensions. */
    TensorSpec spec(int index, String name, Datatype datatype) {
        int rank = high(tensorWord(index, SlotLayout.RANK));
        if (rank < 0 || rank > SlotLayout.MAX_RANK) {
            throw GatunException.invalidArgument("input '" + name + "' has " + Integer.toUnsignedString(rank)
                    + " dimensions: expected " + SlotLayout.MAX_RANK + " at most in a lane");
        }
        TensorSpec last = specs[index];
        if (last != null
                && last.datatype() == datatype
                && last.name().equals(name)
                && hasShape(last.shape(), index, rank)) {
            return last;
        }
        long[] dims = new long[rank];
        System.arraycopy(tensors, index * TENSOR_WORDS + DIMS_WORD, dims, 0, rank);
        TensorSpec spec = new TensorSpec(name, datatype, Shape.of(dims));
        specs[index] = spec;
        return spec;
    }

    private boolean hasShape(Shape shape, int index, int rank) {
        if (shape.rank() != rank) {
            return false;
        }
        for (int i = 0; i < rank; i++) {
            if (shape.dim(i) != tensors[index * TENSOR_WORDS + DIMS_WORD + i]) {
                return false;
            }
        }
        return true;
    }

    private int flags() {
        return high(word(SlotLayout.PREPARED));
    }

    private int idBytes() {
        return low(word(SlotLayout.ID_BYTES));
    }

    private int sequenceBytes() {
        return high(word(SlotLayout.ID_BYTES));
    }

    /** The 64-bit word of the head that holds the field at {@code offset} of the slot. */
    private long word(long offset) {
        return head[(int) ((offset - SlotLayout.REQUEST) / Long.BYTES)];
    }

    private long tensorWord(int index, long offset) {
        return tensors[index * TENSOR_WORDS + (int) (offset / Long.BYTES)];
    }

    private static int low(long word) {
        return (int) word;
    }

    private static int high(long word) {
        return (int) (word >>> Integer.SIZE);
    }
}
