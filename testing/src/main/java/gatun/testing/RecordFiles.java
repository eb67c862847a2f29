// SPDX-License-Identifier: Apache-2.0
package gatun.testing;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;

/** Writes files of TensorFlow's record format. */
public final class RecordFiles {
    private RecordFiles() {}

    /** A file with these records. */
    public static byte[] of(byte[]... records) {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        for (byte[] record : records) {
            file.writeBytes(of(record));
        }
        return file.toByteArray();
    }

    private static byte[] of(byte[] record) {
        byte[] length = ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putLong(record.length)
                .array();
        return ByteBuffer.allocate(2 * Long.BYTES + record.length)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(length)
                .putInt(checksum(length))
                .put(record)
                .putInt(checksum(record))
                .array();
    }

    private static int checksum(byte[] bytes) {
        CRC32C checksum = new CRC32C();
        checksum.update(bytes);
        return Integer.rotateRight((int) checksum.getValue(), 15) + 0xa282ead8;
    }
}
