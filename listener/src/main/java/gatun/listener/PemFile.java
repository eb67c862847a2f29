// SPDX-License-Identifier: Apache-2.0
package gatun.listener;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A file in PEM format, or with such a text among others, which {@code reader} reads; named by {@code flag}. */
public record PemFile(String flag, Path path, Reader reader) {
    private static final Reader WHOLE =
            // The file may hold any bytes beside its objects, which are ASCII.
            path -> Files.readString(path, StandardCharsets.ISO_8859_1);

    /** Reads the text in PEM format that is in a file. */
    @FunctionalInterface
    public interface Reader {
        /** Reads the text. Throws {@link IOException} when the file cannot be read or does not hold one. */
        String read(Path path) throws IOException;
    }

    /** A file that is in PEM format as a whole. */
    public PemFile(String flag, Path path) {
        this(flag, path, WHOLE);
    }

    /** One object of a PEM file: its label and its bytes. */
    static final class Block {
        private final String label;
        private final byte[] der;

        Block(String label, byte[] der) {
            this.label = label;
            this.der = der;
        }

        String label() {
            return label;
        }

        /** The object in ASN.1's form; not a copy. */
        byte[] der() {
            return der;
        }
    }

    private static final Pattern BLOCK =
            Pattern.compile("-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\\s]*)-----END \\1-----");

    /** The file's objects, in order. Throws {@link TlsException} when the file cannot be read. */
    List<Block> blocks() {
        List<Block> blocks = new ArrayList<>();
        for (Matcher found = BLOCK.matcher(text()); found.find(); ) {
            try {
                blocks.add(new Block(found.group(1), Base64.getMimeDecoder().decode(found.group(2))));
            } catch (IllegalArgumentException e) {
                throw wrong("the " + found.group(1) + " in it is damaged", e);
            }
        }
        return blocks;
    }

    private String text() {
        try {
            return reader.read(path);
        } catch (NoSuchFileException e) {
            throw wrong("there is no such file; name a file in PEM format", e);
        } catch (IOException e) {
            throw wrong("the file cannot be read (" + e + "); name a readable file in PEM format", e);
        }
    }

    /** A failure with the file. */
    TlsException wrong(String text, Throwable cause) {
        return new TlsException(flag + "=" + path + ": " + text, cause);
    }

    TlsException wrong(String text) {
        return new TlsException(flag + "=" + path + ": " + text);
    }
}
