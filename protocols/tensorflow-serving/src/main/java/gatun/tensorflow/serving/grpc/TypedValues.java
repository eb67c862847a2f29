// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import gatun.grpc.message.RepeatedField;
import gatun.grpc.message.WireReader;
import gatun.memory.tensor.GatunException;
import java.lang.foreign.MemorySegment;

/**
 * How many values one of a TensorProto's typed fields holds, and where.
 *
 * @param count how many
 * @param pieces in how many packed runs they are; a number that stands alone counts twice
 * @param pieceStart where the last piece begins, without its tag
 * @param pieceLength how long that is; of strings, the last one's size
 * @param stringBytes the size of all strings together
 */
record TypedValues(long count, long pieces, int pieceStart, int pieceLength, long stringBytes) {
    /**
     * Counts the values of one field.
     *
     * @param number the field
     * @param wireType how one value of it is written
     * @throws GatunException INVALID_ARGUMENT when they are not well formed
     */
    static TypedValues count(MemorySegment message, PredictMessage.TensorField field, int number, int wireType) {
        WireReader in = new WireReader(message);
        in.window(field.start, field.end);
        long count = 0;
        long pieces = 0;
        int pieceStart = 0;
        int pieceLength = 0;
        long stringBytes = 0;
        while (in.hasMore()) {
            int tag = in.tag();
            int type = WireReader.type(tag);
            boolean wanted = WireReader.field(tag) == number;
            if (wanted && type == WireReader.LENGTH_DELIMITED && wireType == WireReader.LENGTH_DELIMITED) {
                pieceLength = in.length();
                pieceStart = in.advance(pieceLength);
                stringBytes += pieceLength;
                count++;
                pieces++;
            } else if (wanted && type == WireReader.LENGTH_DELIMITED) {
                int lengthAt = in.position();
                int length = in.length();
                pieceStart = in.position();
                pieceLength = length;
                in.window(lengthAt, field.end);
                count += RepeatedField.packedCount(in, wireType);
                pieces++;
            } else {
                count += wanted && type == wireType ? 1 : 0;
                pieces += wanted && type == wireType ? 2 : 0;
                in.skip(tag);
            }
        }
        return new TypedValues(count, pieces, pieceStart, pieceLength, stringBytes);
    }

    /** Whether all values are one packed run. */
    boolean isOnePiece() {
        return pieces == 1;
    }
}
