// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.server;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.ControlMode;
import gatun.runtime.ListedModels;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.ModelStatus;
import gatun.wire.inference.DataType;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelVersionPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Versions of one model that differ in all but their name. */
@Timeout(60)
class IndependentVersionsTest {
    private static final ModelVersionPolicy ALL = ModelVersionPolicy.newBuilder()
            .setAll(ModelVersionPolicy.All.getDefaultInstance())
            .build();

    @TempDir
    Path directory;

    private Path listed;
    private TestServer test;

    @BeforeEach
    void prepare() throws IOException {
        listed = Files.createDirectories(directory.resolve("listed"));
        test = new TestServer(Files.createDirectories(directory.resolve("repository")));
    }

    @AfterEach
    void close() {
        test.close();
        assertThat(test.backend.open).as("models and instances left open").hasValue(0);
    }

    /** Adds a version, whose file gives the type of its one input. */
    private static void version(Path model, String name, String type) throws IOException {
        Files.writeString(Files.createDirectories(model.resolve(name)).resolve("type"), type);
    }

    private static ModelConfig completed(ModelConfig config, Path versionDirectory) {
        String type;
        try {
            type = Files.readString(versionDirectory.resolve("type"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (type.isEmpty()) {
            throw GatunException.invalidArgument("the file is empty");
        }
        ModelConfig.Builder completed = config.toBuilder();
        completed
                .addInputBuilder()
                .setName("IN")
                .setDataType(DataType.valueOf("TYPE_" + type))
                .addDims(2);
        completed
                .addOutputBuilder()
                .setName("OUT")
                .setDataType(DataType.valueOf("TYPE_" + type))
                .addDims(2);
        return completed.build();
    }

    private void open(ModelVersionPolicy policy) {
        test.open(ScriptedBackend::copy, options -> {
            test.backend.completion = IndependentVersionsTest::completed;
            return options.controlMode(ControlMode.POLL).listed(List.of(model(policy)));
        });
    }

    private ListedModel model(ModelVersionPolicy policy) {
        return new ListedModel("m", listed, ListedModels.TENSORFLOW, policy, Map.of());
    }

    private Datatype inputType(String model, String version) {
        List<TensorSpec> inputs = test.server().model(model, version).inputs();
        return inputs.getFirst().datatype();
    }

    private List<String> index() {
        return test.server().index().stream()
                .map(status -> status.version() + " " + status.state())
                .toList();
    }

    @Test
    void shouldServeVersionsOfDifferentTypesSideBySide() throws IOException {
        version(listed, "1", "FP32");
        version(listed, "2", "INT64");
        version(listed, "3", "");
        Files.writeString(listed.resolve("config.pbtxt"), "backend: 'scripted'");
        open(ALL);

        assertThat(index()).containsExactly("1 READY", "2 READY", "3 UNAVAILABLE");
        assertThat(inputType("m", "1")).isEqualTo(Datatype.FP32);
        assertThat(inputType("m", "2")).isEqualTo(Datatype.INT64);
        assertThat(test.server().index().getLast().reason()).isEqualTo("the file is empty");
    }

    @Test
    void shouldTakeDirectoriesWithLeadingZerosForVersionsWhereAListNamesTheModel() throws IOException {
        version(listed, "00000123", "FP32");
        version(listed, "007", "FP16");
        version(listed, "07", "FP64");
        version(listed, "0008", "FP16");
        version(listed, "8", "INT64");
        Files.writeString(listed.resolve("config.pbtxt"), "backend: 'scripted'");
        open(ALL);

        assertThat(index()).containsExactly("7 READY", "8 READY", "123 READY");
        assertThat(inputType("m", "7")).isEqualTo(Datatype.FP64);
        assertThat(inputType("m", "8")).isEqualTo(Datatype.INT64);
        assertThat(inputType("m", "")).isEqualTo(Datatype.FP32);
    }

    @Test
    void shouldLeaveAVersionAloneWhenTheListChoosesOthersToo() throws IOException {
        version(listed, "1", "FP32");
        version(listed, "2", "");
        Files.writeString(listed.resolve("config.pbtxt"), "backend: 'scripted'");
        open(ModelVersionPolicy.newBuilder()
                .setSpecific(ModelVersionPolicy.Specific.newBuilder().addVersions(1))
                .build());
        test.backend.beforeLoad = () -> {
            throw GatunException.invalidArgument("version 1 is loaded again");
        };
        test.server().replaceListed(List.of(model(ALL)));

        assertThat(index()).containsExactly("1 READY", "2 UNAVAILABLE");
        assertThat(test.server().index()).extracting(ModelStatus::reason).containsExactly("", "the file is empty");
    }
}
