// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.repository;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.ServedPath.LooseModel;
import gatun.runtime.ServedPath.ModelFolder;
import gatun.runtime.ServedPath.Repository;
import gatun.runtime.configuration.DeclaredEngines;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ServedPathsTest {
    @TempDir
    Path folder;

    @Test
    void shouldServeAFileUnderItsNameWithoutTheEnding() throws IOException {
        Path file = file("resnet50.v2.onnx");
        LooseModel model = new LooseModel("resnet50.v2", 1, file);
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, file)).isEqualTo(model);
        assertThat(model.versionFolder()).isEqualTo(folder);
        assertThat(model.fileName()).contains("resnet50.v2.onnx");
        Path relative = Path.of("").toAbsolutePath().relativize(file);
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, relative)).isEqualTo(model);
    }

    @ParameterizedTest
    @ValueSource(strings = {"m.onnx", "m.pt", "m.pt2", "m.json", "m.ubj", "m.model"})
    void shouldTakeAFileForAModelThatSomebodyNames(String name) throws IOException {
        Path file = file(name);
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, file)).isEqualTo(new LooseModel("m", 1, file));
    }

    @Test
    void shouldTakeATextForAModelByItsWholeNameOnly() throws IOException {
        Path file = file("model.txt");
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, file)).isEqualTo(new LooseModel("model", 1, file));
    }

    @Test
    void shouldServeASavedModelUnderItsFoldersName() throws IOException {
        file("mnist.savedmodel/saved_model.pb");
        LooseModel model = new LooseModel("mnist", 1, folder.resolve("mnist.savedmodel"));
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve("mnist.savedmodel")))
                .isEqualTo(model);
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve("mnist.savedmodel/saved_model.pb")))
                .isEqualTo(model);
        assertThat(model.versionFolder()).isEqualTo(folder.resolve("mnist.savedmodel"));
        assertThat(model.fileName()).isEmpty();
    }

    @Test
    void shouldServeTheFolderOfAVersionAsOneOfTheModelAbove() throws IOException {
        file("half/00000123/saved_model.pb");
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve("half/00000123")))
                .isEqualTo(new LooseModel("half", 123, folder.resolve("half/00000123")));
    }

    @Test
    void shouldServeAModelsFolderUnderTheNameOfItsConfigurationOrItsOwn() throws IOException {
        file("simple/1/model.onnx");
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve("simple")))
                .isEqualTo(new ModelFolder("simple", folder.resolve("simple")));
        Files.writeString(file("copy-2/config.pbtxt"), "name: \"resnet\"");
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve("copy-2")))
                .isEqualTo(new ModelFolder("resnet", folder.resolve("copy-2")));
        Files.writeString(file("broken/config.pbtxt"), "nonsense");
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve("broken")))
                .isEqualTo(new ModelFolder("broken", folder.resolve("broken")));
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve("simple/../copy-2/.")))
                .isEqualTo(new ModelFolder("resnet", folder.resolve("simple/../copy-2/.")));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "model.xml",
                "model.py",
                "model.txt",
                "xgboost.json",
                "checkpoint.tl",
                "model.pt2",
                "model.tflite"
            })
    void shouldKnowAModelsFolderByAnyFileThatTellsItsBackend(String name) throws IOException {
        file("models/m/1/" + name);
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve("models/m")))
                .isEqualTo(new ModelFolder("m", folder.resolve("models/m")));
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve("models")))
                .isEqualTo(new Repository(folder.resolve("models")));
    }

    @Test
    void shouldTakeAFolderOfModelsForARepository() throws IOException {
        file("models/simple/1/model.onnx");
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve("models")))
                .isEqualTo(new Repository(folder.resolve("models")));
        file("wrong/lettered/v1/model.onnx");
        assertThat(ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve("wrong")))
                .isEqualTo(new Repository(folder.resolve("wrong")));
    }

    @Test
    void shouldSayWhatWasFoundAndWhatWasExpected() throws IOException {
        refuses("nowhere", ErrorCode.NOT_FOUND, "there is no file and no folder", "expected a model repository");
        file("notes.txt");
        refuses("notes.txt", ErrorCode.INVALID_ARGUMENT, "notes.txt' is no model by its name", "such as resnet.onnx");
        file("home/music/song.mp3");
        file("home/letter.odt");
        refuses("home", ErrorCode.INVALID_ARGUMENT, "holds no model: it holds letter.odt, music", "expected");
        file("download/a.onnx");
        file("download/b.onnx");
        refuses(
                "download",
                ErrorCode.INVALID_ARGUMENT,
                "name these themselves: " + folder.resolve("download/a.onnx") + ", "
                        + folder.resolve("download/b.onnx"));
        Files.createDirectory(folder.resolve("empty"));
        refuses("empty", ErrorCode.INVALID_ARGUMENT, "it is empty", "--model-repository=" + folder.resolve("empty"));
        file(".onnx");
        refuses(".onnx", ErrorCode.INVALID_ARGUMENT, "is no model by its name");
        assertThatThrownBy(() -> ServedPaths.read(DeclaredEngines.CATALOG, Path.of("s3://bucket/models")))
                .hasMessageContaining("fetch it first with 'gatun pull s3://");
    }

    private void refuses(String path, ErrorCode code, String... texts) {
        assertThatThrownBy(() -> ServedPaths.read(DeclaredEngines.CATALOG, folder.resolve(path)))
                .isInstanceOfSatisfying(GatunException.class, failure -> assertThat(failure.code())
                        .isEqualTo(code))
                .message()
                .contains(texts);
    }

    private Path file(String path) throws IOException {
        Path file = folder.resolve(path);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, "content");
    }
}
