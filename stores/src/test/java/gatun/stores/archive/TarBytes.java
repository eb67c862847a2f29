// SPDX-License-Identifier: Apache-2.0
package gatun.stores.archive;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/** Makes parts of tar files as no tar would write them. */
final class TarBytes {
    private TarBytes() {}

    /** A header of the old format, whose sum is right. */
    static byte[] header(String name, char type, long byteSize, String link) {
        byte[] header = new byte[512];
        put(header, 0, name);
        put(header, 100, "0000644\0");
        put(header, 124, byteSize > 077777777777L ? "" : "%011o".formatted(byteSize));
        if (byteSize > 077777777777L) {
            header[124] = (byte) 0x80;
            for (int i = 0; i < 8; i++) {
                header[135 - i] = (byte) (byteSize >> (8 * i));
            }
        }
        put(header, 157, link);
        header[156] = (byte) type;
        put(header, 148, "        ");
        int sum = 0;
        for (byte b : header) {
            sum += b & 0xff;
        }
        put(header, 148, "%06o\0 ".formatted(sum));
        return header;
    }

    /** An entry with its content, in whole blocks. */
    static byte[] entry(String name, char type, String content, String link) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        byte[] text = content.getBytes(StandardCharsets.UTF_8);
        bytes.write(header(name, type, text.length, link));
        bytes.write(text);
        bytes.write(new byte[(512 - (text.length % 512)) % 512]);
        return bytes.toByteArray();
    }

    private static void put(byte[] header, int at, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        System.arraycopy(bytes, 0, header, at, Math.min(bytes.length, 100));
    }
}
