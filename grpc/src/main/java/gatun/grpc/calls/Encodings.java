// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.calls;

import gatun.listener.GzipInput;
import io.grpc.Codec;
import io.grpc.Compressor;
import io.grpc.CompressorRegistry;
import io.grpc.Decompressor;
import io.grpc.DecompressorRegistry;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import java.util.zip.InflaterInputStream;

/** The encodings of messages that are known here: identity, gzip and deflate, both ways. */
public final class Encodings {
    /** All of them, as {@code grpc-accept-encoding} lists them. */
    public static final String ALL = "identity,deflate,gzip";

    private static final CompressorRegistry COMPRESSORS = CompressorRegistry.newEmptyInstance();
    private static final DecompressorRegistry DECOMPRESSORS = DecompressorRegistry.emptyInstance()
            .with(Codec.Identity.NONE, false)
            .with(new Gzip(), true)
            .with(new Deflate(), true);

    static {
        COMPRESSORS.register(Codec.Identity.NONE);
        COMPRESSORS.register(new Gzip());
        COMPRESSORS.register(new Deflate());
    }

    private Encodings() {}

    /** The encodings that {@code grpc-accept-encoding} names. */
    public static List<String> list(String acceptEncoding) {
        return Arrays.stream(acceptEncoding.split(",", -1)).map(String::strip).toList();
    }

    /** The compressor for {@code encoding}; empty when it is not known. */
    public static Optional<Compressor> compressor(String encoding) {
        return Optional.ofNullable(COMPRESSORS.lookupCompressor(encoding));
    }

    /** The decompressor for {@code encoding}; empty when it is not known. */
    public static Optional<Decompressor> decompressor(String encoding) {
        return Optional.ofNullable(DECOMPRESSORS.lookupDecompressor(encoding));
    }

    /** gRPC's {@code deflate}: the zlib format. Without state. */
    static final class Deflate implements Codec {
        @Override
        public String getMessageEncoding() {
            return "deflate";
        }

        @Override
        public OutputStream compress(OutputStream target) {
            return new DeflaterOutputStream(target);
        }

        @Override
        public InputStream decompress(InputStream source) {
            return new InflaterInputStream(source);
        }
    }

    /** gRPC's {@code gzip}, whose input may have any number of members. Without state. */
    static final class Gzip implements Codec {
        private static final int PIECE = 8 * 1024;

        @Override
        public String getMessageEncoding() {
            return "gzip";
        }

        @Override
        public OutputStream compress(OutputStream target) throws IOException {
            return new GZIPOutputStream(target);
        }

        @Override
        public InputStream decompress(InputStream source) throws IOException {
            return new GzipInput(source, PIECE);
        }
    }
}
