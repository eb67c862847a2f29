// SPDX-License-Identifier: Apache-2.0
package gatun.stores.archive;

import gatun.stores.client.ObjectPath;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** The entries of a tar file: POSIX's format (pax, ustar) with GNU's long names. Not thread-safe. */
final class TarReader {
    private static final int BLOCK = 512;
    private static final int HEADER_BYTES = 1 << 16;

    /** One of each kind is usual: two attributes, a long name and the name of a link. */
    private static final int EXTENSION_LIMIT = 8;

    /** All but the content of files: 2.5 KiB for each of as many entries as are unpacked, of which 2 KiB are usual. */
    private static final long OVERHEAD_LIMIT = 256L << 20;

    private static final int NAME_BYTES = 100;
    private static final int SIZE_AT = 124;
    private static final int SIZE_BYTES = 12;
    private static final int CHECKSUM_AT = 148;
    private static final int TYPE_AT = 156;
    private static final int MAGIC_AT = 257;
    private static final int PREFIX_AT = 345;
    private static final int PREFIX_BYTES = 155;

    private final InputStream in;

    /** How much of the last entry, with what fills its last block, has not been read. */
    private long left;

    private long content;

    /** How many bytes were read that are no content of a file. */
    private long overhead;

    /** Reads from {@code in}, which the caller closes. */
    TarReader(InputStream in) {
        this.in = in;
    }

    /** An entry. {@code folder} says whether it stands for a folder; otherwise it is a file. */
    record Entry(String name, boolean folder, long byteSize) {}

    /** Empty at the end. Throws MALFORMED for links, devices and what is no tar file, LIMIT for too many headers. */
    Optional<Entry> next() throws IOException {
        skip(left);
        Map<String, String> extended = new HashMap<>();
        for (int extensions = 0; extensions <= EXTENSION_LIMIT; extensions++) {
            countOverhead(BLOCK);
            byte[] header = in.readNBytes(BLOCK);
            if (header.length == 0 || isEmpty(header)) {
                return Optional.empty();
            }
            if (header.length < BLOCK) {
                throw new EOFException("the archive is cut short");
            }
            requireChecksum(header);
            long byteSize =
                    extended.containsKey("size") ? decimal(extended.get("size")) : number(header, SIZE_AT, SIZE_BYTES);
            String name = extended.getOrDefault("path", name(header));
            content = byteSize;
            left = (byteSize + BLOCK - 1) / BLOCK * BLOCK;
            switch (header[TYPE_AT]) {
                case 'x' -> readAttributes(text(), extended);
                case 'L' -> extended.put("path", text().split("\0", 2)[0]);
                case 'g', 'K' -> text();
                case '0', 0, '7' -> {
                    return Optional.of(new Entry(name, name.endsWith("/"), byteSize));
                }
                case '5' -> {
                    return Optional.of(new Entry(name, true, 0));
                }
                default ->
                    throw ObjectPath.refusal(name, "is a link or a device in the archive, and neither file nor folder");
            }
        }
        throw new StoreException(
                Kind.LIMIT, "the archive has more than " + EXTENSION_LIMIT + " headers before one of its entries");
    }

    private void countOverhead(long count) throws StoreException {
        overhead += count;
        if (overhead > OVERHEAD_LIMIT) {
            throw new StoreException(
                    Kind.LIMIT,
                    "the archive has more than " + OVERHEAD_LIMIT + " bytes of headers; expected at most 2,500 for"
                            + " each of its files");
        }
    }

    /** Reads from the content of the entry; -1 at its end. */
    int read(byte[] bytes) throws IOException {
        if (content == 0) {
            return -1;
        }
        int n = in.read(bytes, 0, (int) Math.min(bytes.length, content));
        if (n < 0) {
            throw new EOFException("the archive is cut short");
        }
        content -= n;
        left -= n;
        return n;
    }

    private void skip(long count) throws IOException {
        countOverhead(count);
        in.skipNBytes(count);
        left = 0;
    }

    private String text() throws IOException {
        if (content > HEADER_BYTES) {
            throw new StoreException(
                    Kind.MALFORMED, "the archive has a header of more than " + HEADER_BYTES + " bytes");
        }
        countOverhead(content);
        byte[] bytes = in.readNBytes((int) content);
        left -= bytes.length;
        skip(left);
        return new String(bytes, StandardCharsets.UTF_8);
    }

    /** Takes what is of use from lines of a length, a blank, a key, an equals sign and a value. */
    private static void readAttributes(String text, Map<String, String> attributes) {
        for (String line : text.split("\n", -1)) {
            int blank = line.indexOf(' ');
            int equals = line.indexOf('=');
            if (blank > 0 && equals > blank) {
                String key = line.substring(blank + 1, equals);
                if (key.equals("path") || key.equals("size")) {
                    attributes.put(key, line.substring(equals + 1));
                }
            }
        }
    }

    private static String name(byte[] header) {
        String name = string(header, 0, NAME_BYTES);
        boolean posix = string(header, MAGIC_AT, 6).equals("ustar");
        String prefix = posix ? string(header, PREFIX_AT, PREFIX_BYTES) : "";
        return prefix.isEmpty() ? name : prefix + "/" + name;
    }

    private static String string(byte[] header, int from, int length) {
        int end = from;
        while (end < from + length && header[end] != 0) {
            end++;
        }
        return new String(header, from, end - from, StandardCharsets.UTF_8);
    }

    private static long number(byte[] header, int from, int length) throws StoreException {
        if ((header[from] & 0x80) != 0) {
            // GNU's binary form, for files of more than 8 GiB.
            long value = 0;
            for (int i = from + length - 8; i < from + length; i++) {
                value = value << 8 | (header[i] & 0xff);
            }
            return requirePlausible(value);
        }
        String octal = string(header, from, length).strip();
        try {
            return requirePlausible(octal.isEmpty() ? 0 : Long.parseLong(octal, 8));
        } catch (NumberFormatException e) {
            throw malformed();
        }
    }

    private static long decimal(String text) throws StoreException {
        try {
            return requirePlausible(Long.parseLong(text));
        } catch (NumberFormatException e) {
            throw malformed();
        }
    }

    private static long requirePlausible(long byteSize) throws StoreException {
        if (byteSize < 0 || byteSize > Long.MAX_VALUE >> 10) {
            throw malformed();
        }
        return byteSize;
    }

    private static void requireChecksum(byte[] header) throws StoreException {
        long sum = 0;
        for (int i = 0; i < BLOCK; i++) {
            sum += i >= CHECKSUM_AT && i < CHECKSUM_AT + 8 ? ' ' : header[i] & 0xff;
        }
        if (sum != number(header, CHECKSUM_AT, 8)) {
            throw malformed();
        }
    }

    private static StoreException malformed() {
        return new StoreException(Kind.MALFORMED, "the archive is no tar file, or is damaged");
    }

    private static boolean isEmpty(byte[] header) {
        for (byte b : header) {
            if (b != 0) {
                return false;
            }
        }
        return true;
    }
}
