// SPDX-License-Identifier: Apache-2.0
package gatun.stores.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.stores.FaultyStore;
import gatun.stores.client.StoreException;
import gatun.stores.client.StoreHttp;
import gatun.stores.client.StoreLimits;
import gatun.stores.s3.AwsCredentialSource.AwsCredentials;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AwsCredentialSourceTest {
    @TempDir
    Path home;

    @Test
    void shouldTakeGivenKeysBeforeTheEnvironment() throws IOException {
        AwsCredentialSource source = source(
                Map.of("key_id", "given", "secret_key", "s", "region", "eu-west-1"),
                Map.of("AWS_ACCESS_KEY_ID", "other", "AWS_SECRET_ACCESS_KEY", "t", "AWS_DEFAULT_REGION", "us-west-2"));

        assertThat(source.get().orElseThrow().keyId()).isEqualTo("given");
        assertThat(source.region()).contains("eu-west-1");
    }

    @Test
    void shouldReadTheProfileThatTheEnvironmentNames() throws IOException {
        Files.createDirectories(home.resolve(".aws"));
        Files.writeString(home.resolve(".aws/credentials"), """
                [default]
                aws_access_key_id = a
                aws_secret_access_key = b
                [team]
                aws_access_key_id = c
                aws_secret_access_key = d
                aws_session_token = e
                """);
        Files.writeString(home.resolve(".aws/config"), "[profile team]\nregion = eu-north-1\n");

        AwsCredentialSource source = source(Map.of(), Map.of("AWS_PROFILE", "team"));

        assertThat(source.get().orElseThrow().keyId()).isEqualTo("c");
        assertThat(source.get().orElseThrow().sessionToken()).isEqualTo("e");
        assertThat(source.region()).contains("eu-north-1");
    }

    @Test
    void shouldSayHowToUseAProfileThatSignsInOtherwise() {
        AwsCredentialSource source = source(Map.of(), Map.of("AWS_PROFILE", "sso"));

        assertThatExceptionOfType(StoreException.class)
                .isThrownBy(source::get)
                .withMessageContaining("aws configure export-credentials --profile sso");
    }

    @Test
    void shouldAskTheServiceOfAContainer() throws IOException {
        try (FaultyStore service = FaultyStore.start()) {
            service.replies.put("credentials", (out, request) -> {
                boolean known = request.getOrDefault("authorization", "").equals("Bearer token");
                FaultyStore.status(
                        out,
                        known ? "200 OK" : "403 Forbidden",
                        "{\"AccessKeyId\": \"k\", \"SecretAccessKey\": \"s\", \"Token\": \"t\","
                                + " \"Expiration\": \"2999-01-01T00:00:00Z\"}");
            });
            Map<String, String> environment = Map.of(
                    "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                    service.http("credentials"),
                    "AWS_CONTAINER_AUTHORIZATION_TOKEN",
                    "Bearer token");

            AwsCredentials found = source(Map.of(), environment).get().orElseThrow();

            assertThat(found.keyId()).isEqualTo("k");
            assertThat(found.sessionToken()).isEqualTo("t");
        }
    }

    @Test
    void shouldGoWithoutKeysWhereNobodyGivesAny() throws IOException {
        assertThat(source(Map.of(), Map.of("AWS_EC2_METADATA_DISABLED", "true")).get())
                .isEmpty();
    }

    private AwsCredentialSource source(Map<String, String> given, Map<String, String> environment) {
        return new AwsCredentialSource(given, environment, home, new StoreHttp(StoreLimits.of(Duration.ofSeconds(5))));
    }
}
