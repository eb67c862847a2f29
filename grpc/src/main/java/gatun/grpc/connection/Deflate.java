// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.connection;

import io.grpc.Codec;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.InflaterInputStream;

/** gRPC's {@code deflate}: the zlib format. Without state. */
final class Deflate implements Codec {
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
