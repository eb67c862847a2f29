// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.wire.tensorflow.serving.SSLConfig;
import java.nio.file.Path;

/**
 * TensorFlow Serving's file that protects its gRPC port, with keys and certificates as texts in PEM format; the
 * server's certificate is followed by those of its issuers, and {@code clientRoots} may be empty.
 */
public record SslFile(String key, String certificate, String clientRoots, boolean clientsVerified) {
    /** Reads the file. Throws INVALID_ARGUMENT, with line and column for a syntax error. */
    public static SslFile read(Path file) {
        SSLConfig.Builder config = SSLConfig.newBuilder();
        ServingFile.read(file, config);
        return new SslFile(
                config.getServerKey(), config.getServerCert(), config.getCustomCa(), config.getClientVerify());
    }

    /** Names the record only: it holds a private key. */
    @Override
    public String toString() {
        return "SslFile";
    }
}
