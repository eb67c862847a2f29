// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import gatun.listener.GzipInput;
import io.grpc.Codec;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.zip.GZIPOutputStream;

/** gRPC's {@code gzip}, whose input may have any number of members. Without state. */
final class Gzip implements Codec {
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
