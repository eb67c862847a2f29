// SPDX-License-Identifier: Apache-2.0
package gatun.stores.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import gatun.stores.location.RepositoryLocation;
import gatun.stores.location.StoreLocation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CloudCredentialsTest {
    @TempDir
    Path folder;

    @Test
    void shouldTakeTheLongestBeginningOfTheUrl() throws IOException {
        CloudCredentials credentials = read("""
                {"gs": {"": "/all.json", "gs://team": "/team.json"},
                 "s3": {"": {"key_id": "all", "secret_key": "s"}, "s3://team/models": {"key_id": "team"}}}
                """);

        assertThat(credentials.of(location("s3://other/models")).orElseThrow()).containsEntry("key_id", "all");
        assertThat(credentials.of(location("s3://team/models/a")).orElseThrow()).containsEntry("key_id", "team");
        assertThat(credentials.of(location("gs://team/a")).orElseThrow()).containsEntry("path", "/team.json");
        assertThat(credentials.of(location("as://account/container"))).isEmpty();
    }

    @Test
    void shouldNotRepeatWhatCannotBeRead() throws IOException {
        Files.writeString(folder.resolve("credentials"), "{\"s3\": SECRET");
        Map<String, String> environment = Map.of(
                CloudCredentials.FILE_VARIABLE, folder.resolve("credentials").toString());

        assertThatIOException()
                .isThrownBy(() -> CloudCredentials.of(environment))
                .satisfies(failure ->
                        assertThat(failure.toString() + failure.getCause()).doesNotContain("SECRET"));
    }

    private CloudCredentials read(String text) throws IOException {
        Path file = Files.writeString(folder.resolve("credentials"), text);
        return CloudCredentials.of(Map.of(CloudCredentials.FILE_VARIABLE, file.toString()));
    }

    private static StoreLocation location(String url) {
        return (StoreLocation) RepositoryLocation.parse(url);
    }
}
