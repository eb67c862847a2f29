// SPDX-License-Identifier: Apache-2.0
package gatun.stores.google;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.stores.client.StoreException;
import gatun.stores.client.StoreException.Kind;
import gatun.stores.client.StoreProtocol.Page;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GoogleListingTest {
    private static InputStream stream(String text) {
        return new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void shouldReadObjectsFoldersAndTheNextPage() throws IOException {
        Page page = GoogleListing.read(stream("""
                {"kind": "storage#objects", "prefixes": ["a/", "b/"], "nextPageToken": "t", "items": [
                  {"name": "c", "size": 7, "generation": "1", "metadata": {"size": "8"}, "md5Hash": "no base64"}]}"""));

        assertThat(page.folders()).containsExactly("a/", "b/");
        assertThat(page.next()).isEqualTo("t");
        assertThat(page.objects()).singleElement().satisfies(object -> {
            assertThat(object.name()).isEqualTo("c");
            assertThat(object.byteSize()).isEqualTo(7);
            assertThat(object.checksums()).isEmpty();
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "[]",
                "{",
                "{\"items\": {}}",
                "{\"items\": [{}]}",
                "{\"items\": [{\"name\": \"a\", \"size\": -1, \"generation\": \"1\"}]}",
                "{\"items\": [{\"name\": \"a\", \"size\": \"x\", \"generation\": \"1\"}]}",
                "{\"prefixes\": [null]}"
            })
    void shouldRefuseWhatIsNoListing(String text) {
        refuse(text);
    }

    @Test
    void shouldRefuseMoreThanAPageHolds() {
        refuse("{\"prefixes\": [" + "\"\",".repeat(20_000) + "\"\"]}");
        refuse("{\"a\": " + "[".repeat(20_000) + "]".repeat(20_000) + "}");
        refuse("{\"items\": [{" + "\"crc32c\": \"Ya91Mw==\",".repeat(20) + "\"size\": 1}]}");
    }

    private static void refuse(String text) {
        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(() -> GoogleListing.read(stream(text)))
                .satisfies(failure -> assertThat(failure.kind()).isEqualTo(Kind.MALFORMED));
    }
}
