// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import gatun.http.connection.ResponseHeaders;
import gatun.http.json.JsonWriter;
import gatun.http.json.WriterStream;
import gatun.memory.threads.CooperativeYield;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;

/** How a response may be compressed. Safe for any thread. */
final class Compression {
    static final Compression IDENTITY = new Compression("identity", target -> target);

    private static final List<Compression> KNOWN = List.of(
            IDENTITY,
            new Compression("deflate", DeflaterOutputStream::new),
            new Compression("gzip", GZIPOutputStream::new));

    /** The memory, most of it native, that compressing takes while the response is sent, in bytes. */
    static final int COMPRESSOR_BYTE_SIZE = 320 * 1024;

    private static final int PIECE = 8 * 1024;

    private final String token;
    private final Format format;
    private final ResponseHeaders jsonHeaders;
    private final ResponseHeaders.Constant binaryHeaders;

    /** Makes the stream that compresses. */
    private interface Format {
        OutputStream open(OutputStream target) throws IOException;
    }

    private Compression(String token, Format format) {
        this.token = token;
        this.format = format;
        this.jsonHeaders = ResponseHeaders.of(
                ResponseHeaders.constant("Content-Type: application/json", "Content-Encoding: " + token));
        this.binaryHeaders = ResponseHeaders.constant(
                "Content-Type: application/octet-stream",
                "Content-Encoding: " + token,
                "Inference-Header-Content-Length: ");
    }

    /** The compression for an {@code Accept-Encoding} header: the first known one of highest weight. */
    static Compression accepted(String acceptEncoding) {
        Compression best = IDENTITY;
        double bestWeight = 0;
        for (String offer : acceptEncoding.split(",", -1)) {
            String[] parts = offer.split(";", -1);
            String name = parts[0].strip().toLowerCase(Locale.ROOT);
            double weight = weight(parts);
            for (Compression known : KNOWN) {
                if (known.token.equals(name) && weight > bestWeight) {
                    best = known;
                    bestWeight = weight;
                }
            }
        }
        return best;
    }

    ResponseHeaders jsonHeaders() {
        return jsonHeaders;
    }

    ResponseHeaders binaryHeaders(long jsonByteSize) {
        return ResponseHeaders.with(binaryHeaders, jsonByteSize);
    }

    /** Compresses what {@code write} writes to the empty {@code text}, then {@code tensors}, each through a window. */
    void compress(JsonWriter target, JsonWriter text, Consumer<JsonWriter> write, MemorySegment[] tensors) {
        try (OutputStream compressing = format.open(new WriterStream(target))) {
            text.overflowTo(full -> write(compressing, full));
            write.accept(text);
            write(compressing, text);
            byte[] piece = new byte[PIECE];
            CooperativeYield work = new CooperativeYield(CooperativeYield.DEFLATION_STEP);
            for (MemorySegment tensor : tensors) {
                long byteSize = tensor.byteSize();
                for (long at = 0; at < byteSize; at += PIECE) {
                    int length = (int) Math.min(PIECE, byteSize - at);
                    MemorySegment.copy(tensor, ValueLayout.JAVA_BYTE, at, piece, 0, length);
                    compressing.write(piece, 0, length);
                    work.worked(length);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException("writing to memory", e);
        }
    }

    private static void write(OutputStream compressing, JsonWriter text) {
        try {
            compressing.write(text.array(), 0, text.size());
        } catch (IOException e) {
            throw new UncheckedIOException("writing to memory", e);
        }
    }

    /** The parameter {@code q} among those that follow the name; 1 without one, 0 for one that is no number. */
    private static double weight(String[] nameAndParameters) {
        for (int i = 1; i < nameAndParameters.length; i++) {
            String parameter = nameAndParameters[i].strip();
            if (parameter.startsWith("q=")) {
                try {
                    return Double.parseDouble(parameter.substring(2));
                } catch (NumberFormatException e) {
                    return 0;
                }
            }
        }
        return 1;
    }
}
