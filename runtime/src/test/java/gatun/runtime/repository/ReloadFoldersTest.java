// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ListedModels;
import gatun.runtime.ListedModels.ListedModel;
import gatun.wire.inference.ModelVersionPolicy;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which folders clients may list, beside {@code models/own}, which the operator does. */
class ReloadFoldersTest {
    @TempDir
    Path temporary;

    private Path models;
    private ReloadFolders folders;

    @BeforeEach
    void prepare() throws IOException {
        models = folder("models");
        folder("models/own");
        folder("models/other/deep");
        folder("elsewhere/evil");
        folders = opening();
    }

    private ReloadFolders opening(Path... opened) {
        ReloadFolders opening = new ReloadFolders(List.of(opened));
        opening.list(List.of(at(models.resolve("own"))));
        return opening;
    }

    private Path folder(String name) throws IOException {
        Path created = temporary.toRealPath();
        for (Path part : Path.of(name)) {
            created = created.resolve(part);
            if (!Files.exists(created)) {
                Files.createDirectory(created);
                permit(created, "rwxr-xr-x");
            }
        }
        return created;
    }

    private static void permit(Path folder, String permissions) throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString(permissions));
    }

    private static ListedModel at(Path directory) {
        return new ListedModel(
                "m", directory, ListedModels.TENSORFLOW, ModelVersionPolicy.getDefaultInstance(), Map.of());
    }

    private Path admitted(Path asked) {
        return folders.admit(at(asked)).directory();
    }

    private void assertRefused(Path asked, String reason) {
        assertThatThrownBy(() -> admitted(asked))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                .hasMessageContaining("base_path()=" + asked + " of model m is refused, since ")
                .hasMessageContaining(reason);
    }

    @Test
    void shouldAdmitWhatLiesBesideAListedModel() throws IOException {
        assertThat(admitted(models.resolve("other"))).isEqualTo(models.resolve("other"));
        assertThat(admitted(models.resolve("other/deep"))).isEqualTo(models.resolve("other/deep"));
        assertThat(admitted(models.resolve("own/../other"))).isEqualTo(models.resolve("other"));
        assertThat(admitted(models.resolve("absent"))).isEqualTo(models.resolve("absent"));
        Files.createSymbolicLink(models.resolve("link"), models.resolve("other"));
        assertThat(admitted(models.resolve("link"))).isEqualTo(models.resolve("other"));
    }

    @Test
    void shouldRefuseWhatLiesElsewhere() throws IOException {
        String outside = "it does not lie beside the folders of the models that the operator lists";
        assertRefused(temporary.toRealPath().resolve("elsewhere/evil"), outside);
        assertRefused(models.resolve("../elsewhere/evil"), outside);
        assertRefused(models, outside);
        assertRefused(Path.of("/"), outside);
        assertRefused(Path.of("/no/such/folder"), outside);

        Files.createSymbolicLink(models.resolve("link"), temporary.toRealPath().resolve("elsewhere"));
        assertRefused(models.resolve("link"), outside);
        assertRefused(models.resolve("link/evil"), outside);
    }

    @ParameterizedTest
    @ValueSource(strings = {"rwxrwxr-x", "rwxr-xrwx", "rwxrwxrwx"})
    void shouldRefuseWhatOthersMayHavePutBesideAListedModel(String permissions) throws IOException {
        permit(models, permissions);
        assertRefused(models.resolve("other"), "others than root and the server's user may write to the folder");
        assertRefused(models.resolve("absent"), "others than root and the server's user may write to the folder");
        assertThat(admitted(models.resolve("own"))).isEqualTo(models.resolve("own"));

        folders = opening(models);
        assertThat(admitted(models.resolve("other"))).isEqualTo(models.resolve("other"));
    }

    @Test
    void shouldRefuseWhatAnybodyMayWriteTo() throws IOException {
        permit(models.resolve("other"), "rwxrwxrwx");
        assertRefused(models.resolve("other"), "anybody may write to " + models.resolve("other"));
        assertRefused(models.resolve("other/deep"), "anybody may write to " + models.resolve("other"));
    }

    @Test
    void shouldRefuseWhatAnybodyMayPutThereLater() throws IOException {
        permit(models.resolve("other"), "rwxrwxrwx");
        assertRefused(models.resolve("other/absent"), "anybody may write to " + models.resolve("other"));
        assertRefused(models.resolve("other/absent/deep"), "anybody may write to " + models.resolve("other"));

        Files.createSymbolicLink(models.resolve("link"), temporary.toRealPath().resolve("elsewhere"));
        assertRefused(models.resolve("link/absent"), "it does not lie beside");
        Files.createSymbolicLink(
                models.resolve("dangling"), temporary.toRealPath().resolve("nowhere"));
        assertRefused(models.resolve("dangling"), "it leads nowhere");
        assertRefused(models.resolve("dangling/absent"), "it leads nowhere");
    }

    @Test
    void shouldAdmitWhatIsToComeInAnOpenedFolder() throws IOException {
        Path opened = temporary.toRealPath().resolve("opened");
        folders = opening(opened);
        assertThat(admitted(opened.resolve("absent"))).isEqualTo(opened.resolve("absent"));
        Files.createDirectory(opened);
        permit(opened, "rwxrwxrwx");
        assertThat(admitted(opened.resolve("absent"))).isEqualTo(opened.resolve("absent"));
    }

    @Test
    void shouldOpenNoFolderOfTheWholeDisk() {
        folders.list(List.of(at(Path.of("/etc"))));
        assertRefused(Path.of("/usr"), "it does not lie beside");
        assertThat(admitted(Path.of("/etc"))).isEqualTo(Path.of("/etc"));
    }

    @Test
    void shouldKeepAListedFolderThatIsALink() throws IOException {
        Path link = Files.createSymbolicLink(
                models.resolve("current"), temporary.toRealPath().resolve("elsewhere"));
        folders.list(List.of(at(link)));
        assertThat(admitted(link)).isEqualTo(link);

        Path inside = Files.createSymbolicLink(models.resolve("newest"), models.resolve("other"));
        folders.list(List.of(at(inside)));
        assertThat(admitted(models.resolve("other"))).isEqualTo(inside);
    }

    @Test
    void shouldFollowTheOperatorsList() {
        folders.list(List.of());
        assertRefused(models.resolve("other"), "it does not lie beside");
    }
}
