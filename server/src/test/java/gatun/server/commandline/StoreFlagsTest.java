// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.server.settings.ModelListSettings.Names;
import gatun.server.settings.ServedModelSettings;
import gatun.server.settings.ServedModelSettings.StoreSettings;
import gatun.stores.location.RepositoryLocation;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The flags of models that URLs name. */
class StoreFlagsTest extends CommandFixture {
    @Test
    void shouldTakeUrlsBesideFolders() {
        ServedModelSettings models = serveOnly(
                "--model-repository=s3://bucket/models", "--model-repository=models", "file:///models/all.zip");

        assertThat(models.sources().repositories()).containsExactly(Path.of("models"));
        assertThat(models.sources().paths()).isEmpty();
        assertThat(models.stores().repositories())
                .extracting(RepositoryLocation::text)
                .containsExactly("s3://bucket/models", "file:///models/all.zip");
        assertThat(models.stores().cacheByteSize()).isEqualTo(StoreSettings.STANDARD.cacheByteSize());
    }

    @Test
    void shouldReadHowTheyAreFetched() {
        StoreSettings stores = serveOnly(
                        "gs://bucket",
                        "--store-cache-dir=cache",
                        "--store-cache-byte-size=1000",
                        "--store-timeout-secs=7",
                        "--store-connections=3")
                .stores();

        assertThat(stores.cache()).isEqualTo(Path.of("cache"));
        assertThat(stores.cacheByteSize()).isEqualTo(1000);
        assertThat(stores.timeout()).isEqualTo(Duration.ofSeconds(7));
        assertThat(stores.connections()).isEqualTo(3);
    }

    @Test
    void shouldTakeAUrlAsTheBasePathOfAModel() {
        ServedModelSettings models = serveOnly("--model_name=m", "--model_base_path=as://account/container/m");

        assertThat(models.sources().list().orElseThrow().names())
                .isEqualTo(new Names.Stored("m", RepositoryLocation.parse("as://account/container/m")));
    }

    @Test
    void shouldRefuseWrongUrlsWithoutTheirSecrets() {
        assertThat(refuse("--model-repository=s3://key:SECRET@host:9000/bucket"))
                .contains("credentials come from the environment")
                .doesNotContain("SECRET");
        assertThat(refuse("--model-repository=hdfs://host/models")).contains("expected s3://BUCKET/PATH");
    }
}
