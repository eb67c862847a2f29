// SPDX-License-Identifier: Apache-2.0
package gatun.stores.location;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class RepositoryLocationTest {
    @ParameterizedTest
    @CsvSource({
        "s3://bucket, , bucket, ''",
        "s3://bucket/a/b, , bucket, a/b/",
        "s3://bucket//a///b/, , bucket, a/b/",
        "s3://localhost:9000/bucket/a, http://localhost:9000, bucket, a/",
        "s3://https://minio.example:9000/bucket/a, https://minio.example:9000, bucket, a/",
        "s3://http://127.0.0.1:9000/bucket, http://127.0.0.1:9000, bucket, ''",
        "gs://bucket/a, , bucket, a/"
    })
    void shouldReadTritonsForms(String url, String endpoint, String bucket, String prefix) {
        StoreLocation location = (StoreLocation) RepositoryLocation.parse(url);

        assertThat(location.endpoint().map(Object::toString).orElse(null)).isEqualTo(endpoint);
        assertThat(location.bucket()).isEqualTo(bucket);
        assertThat(location.prefix()).isEqualTo(prefix);
    }

    @ParameterizedTest
    @ValueSource(strings = {"as://account/container/a/b", "as://account.blob.core.windows.net/container/a/b"})
    void shouldReadAccountsOfAzure(String url) {
        StoreLocation location = (StoreLocation) RepositoryLocation.parse(url);

        assertThat(location.account()).isEqualTo("account");
        assertThat(location.bucket()).isEqualTo("container");
        assertThat(location.prefix()).isEqualTo("a/b/");
        assertThat(location.text()).isEqualTo("as://account/container/a/b");
    }

    @ParameterizedTest
    @CsvSource({
        "https://example.org/models.tar.gz, TAR_GZ, models",
        "https://example.org/a/resnet.tgz?signature=x, TAR_GZ, resnet",
        "file:///models/resnet.zip, ZIP, resnet",
        "https://example.org/m.tar, TAR, m"
    })
    void shouldReadArchives(String url, ArchiveLocation.Format format, String name) {
        ArchiveLocation location = (ArchiveLocation) RepositoryLocation.parse(url);

        assertThat(location.format()).isEqualTo(format);
        assertThat(location.name()).isEqualTo(name);
        assertThat(location.text()).doesNotContain("signature");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "s3://key:SECRET@host:9000/bucket",
                "https://user:SECRET@example.org/m.zip",
                "http://example.org/m.zip?token=SECRET",
                "https://example.org/model?token=SECRET",
                "https://example.org/m.zip#md5=abc",
                "ftp://example.org/m.zip",
                "s3://",
                "s3:///",
                "as://account",
                "gs://bu cket/a"
            })
    void shouldRefuseOthersWithoutRepeatingSecrets(String url) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RepositoryLocation.parse(url))
                .satisfies(failure -> assertThat(failure).hasMessageNotContaining("SECRET"));
    }

    @Test
    void shouldTakePathsForPaths() {
        assertThat(RepositoryLocation.isUrl("models")).isFalse();
        assertThat(RepositoryLocation.isUrl("/models/s3:/x")).isFalse();
        assertThat(RepositoryLocation.isUrl("s3://bucket")).isTrue();
        assertThat(RepositoryLocation.isUrl("file:/m.zip")).isTrue();
    }
}
