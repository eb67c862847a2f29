// SPDX-License-Identifier: Apache-2.0
package gatun.stores.s3;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.stores.s3.AwsCredentialSource.AwsCredentials;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** The examples of AWS's documentation, "Authenticating Requests: Using the Authorization Header". */
class RequestSignerTest {
    private static final RequestSigner SIGNER = new RequestSigner(
            new AwsCredentials(
                    "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "", Optional.empty()),
            "us-east-1");
    private static final Instant TIME = Instant.parse("2013-05-24T00:00:00Z");

    @Test
    void shouldSignGetOfARange() {
        assertThat(authorization("https://examplebucket.s3.amazonaws.com/test.txt", Map.of("range", "bytes=0-9")))
                .contains("SignedHeaders=host;range;x-amz-content-sha256;x-amz-date")
                .endsWith("Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
    }

    @Test
    void shouldSignListing() {
        assertThat(authorization("https://examplebucket.s3.amazonaws.com/?max-keys=2&prefix=J", Map.of()))
                .endsWith("Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
    }

    @Test
    void shouldNotShowSecrets() {
        assertThat(SIGNER.toString()).doesNotContain("wJalr");
    }

    private static String authorization(String uri, Map<String, String> headers) {
        HttpRequest.Builder request = SIGNER.sign(URI.create(uri), new TreeMap<>(headers), TIME);
        return request.build().headers().firstValue("Authorization").orElseThrow();
    }
}
