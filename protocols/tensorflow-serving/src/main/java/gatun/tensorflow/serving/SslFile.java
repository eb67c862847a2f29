// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.GatunException;
import gatun.wire.tensorflow.serving.SSLConfig;
import java.nio.file.Path;

/**
 * TensorFlow Serving's file that protects its gRPC port, with keys and certificates as texts in PEM format.
 *
 * @param key the server's private key
 * @param certificate the server's certificate, followed by those of its issuers
 * @param clientRoots the authorities that vouch for clients; empty where there are none
 * @param clientsVerified whether clients must show a certificate
 */
public record SslFile(String key, String certificate, String clientRoots, boolean clientsVerified) {
    /**
     * Reads the file.
     *
     * @throws GatunException INVALID_ARGUMENT, with line and column, when the file cannot be read or says something
     *     else
     */
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
