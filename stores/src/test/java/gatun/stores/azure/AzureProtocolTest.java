// SPDX-License-Identifier: Apache-2.0
package gatun.stores.azure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.stores.azure.AzureProtocol.AzureAccess;
import gatun.stores.client.Checksum;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.StoreLimits;
import gatun.stores.client.StoreProtocol.Page;
import gatun.stores.client.StoredObject;
import gatun.stores.location.RepositoryLocation;
import gatun.stores.location.StoreLocation;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class AzureProtocolTest {
    /** The key that Azure's documentation gives to the account of its emulator. */
    private static final String KEY =
            "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

    private static final String ACCOUNT = "devstoreaccount1";

    /** The signatures are those that a program in Python computes whose requests Azurite takes. */
    @Test
    void shouldSignWithTheKeyOfTheAccount() throws IOException {
        SortedMap<String, String> headers =
                new TreeMap<>(Map.of("x-ms-date", "Fri, 27 Nov 2026 19:00:00 GMT", "x-ms-version", "2021-08-06"));
        assertThat(authorization(
                        "https://devstoreaccount1.blob.core.windows.net/models?restype=container&comp=list&prefix=repo%2Fa%20b%2F",
                        headers))
                .isEqualTo("SharedKey devstoreaccount1:uNSER0q+p2LdrluehJFhGgNhsptntinduDDdrjwGU5c=");

        headers.put("if-match", "\"0x8D\"");
        headers.put("range", "bytes=10-");
        assertThat(authorization("https://devstoreaccount1.blob.core.windows.net/models/repo/a%20b/1/x", headers))
                .isEqualTo("SharedKey devstoreaccount1:70pxZTImXgHqxFLsNP0AaQi0e3QZzp7cL8pEvk294SU=");
    }

    @Test
    void shouldReadAListing() throws IOException {
        String listing =
                "<?xml version=\"1.0\" encoding=\"utf-8\"?><EnumerationResults ContainerName=\"models\"><Blobs>"
                        + "<Blob><Name>repo/a b/1/m</Name><Properties><Etag>0x8DC</Etag><Content-Length>7</Content-Length>"
                        + "<Content-MD5>mgNkuembtIDdJeHwKEyFVQ==</Content-MD5></Properties></Blob>"
                        + "<BlobPrefix><Name>repo/c/</Name></BlobPrefix></Blobs><NextMarker>more</NextMarker>"
                        + "</EnumerationResults>";

        Page page = protocol().read(new ByteArrayInputStream(listing.getBytes(StandardCharsets.UTF_8)));

        Checksum md5 = new Checksum(Checksum.Algorithm.MD5, "9a0364b9e99bb480dd25e1f0284c8555");
        assertThat(page.objects()).containsExactly(new StoredObject("repo/a b/1/m", "0x8DC", 7, List.of(md5)));
        assertThat(page.folders()).containsExactly("repo/c/");
        assertThat(page.next()).isEqualTo("more");
    }

    @Test
    void shouldAskTheAccountsOwnServerUnlessTheUrlNamesOne() throws IOException {
        assertThat(protocol().list("repo/", true, "").build().uri())
                .hasToString("https://account.blob.core.windows.net/models?restype=container&comp=list&prefix=repo%2F");
        StoreLocation other =
                (StoreLocation) RepositoryLocation.parse("as://http://127.0.0.1:10000/devstoreaccount1/models/repo");
        StoredObject object = new StoredObject("repo/ü", "0x8D", 7, List.of());
        HttpRequest request =
                AzureProtocol.of(other, Map.of(), Map.of()).get(object, 3).build();

        assertThat(request.uri()).hasToString("http://127.0.0.1:10000/devstoreaccount1/models/repo/%C3%BC");
        assertThat(request.headers().firstValue("If-Match")).contains("\"0x8D\"");
        assertThat(request.headers().firstValue("Range")).contains("bytes=3-");
    }

    @Test
    void shouldRefuseAKeyThatIsNoneWithoutRepeatingIt() {
        StoreHttp http = new StoreHttp(StoreLimits.of(Duration.ofSeconds(1)));

        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> AzureAccess.of(ACCOUNT, Map.of(), Map.of("AZURE_STORAGE_KEY", "no base64"), http))
                .withMessageContaining("AZURE_STORAGE_KEY")
                .withMessageNotContaining("no base64");
    }

    private static AzureProtocol protocol() throws IOException {
        return AzureProtocol.of(
                (StoreLocation) RepositoryLocation.parse("as://account/models/repo"), Map.of(), Map.of());
    }

    private static String authorization(String uri, SortedMap<String, String> headers) throws IOException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(uri));
        StoreHttp http = new StoreHttp(StoreLimits.of(Duration.ofSeconds(1)));
        AzureAccess.of(ACCOUNT, Map.of("account_key", KEY), Map.of(), http).add(request, URI.create(uri), headers);
        return request.build().headers().firstValue("Authorization").orElseThrow();
    }
}
