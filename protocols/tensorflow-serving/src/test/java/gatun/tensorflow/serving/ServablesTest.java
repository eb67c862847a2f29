// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ListedModels.ListedModel;
import gatun.runtime.server.GatunServer;
import gatun.runtime.testing.RuntimeExtension;
import gatun.wire.inference.ModelVersionPolicy;
import gatun.wire.tensorflow.serving.ModelVersionStatus;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

class ServablesTest {
    private static final OptionalLong ANY = OptionalLong.empty();

    @RegisterExtension
    final RuntimeExtension runtime = new RuntimeExtension(1 << 20);

    private GatunServer server;
    private Servables servables;

    @BeforeEach
    void open(@TempDir Path folder) throws IOException {
        Files.createDirectories(folder.resolve("1"));
        Files.createDirectories(folder.resolve("2"));
        Files.writeString(folder.resolve("config.pbtxt"), """
                backend: "identity"
                input { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] }
                output { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] }
                """);
        ModelVersionPolicy.Builder all = ModelVersionPolicy.newBuilder();
        all.getAllBuilder();
        // Nobody may give a label to a version that is not there, but a version may go and leave its label.
        Map<String, Long> labels = Map.of("stable", 1L, "gone", 9L);
        server = runtime.serve(
                options -> options.listed(List.of(new ListedModel("m", folder, "tensorflow", all.build(), labels)))
                        .exitTimeout(Duration.ofSeconds(10)));
        servables = new Servables(server);
    }

    private static Servable servable(String name, OptionalLong version, Optional<String> label) {
        return new Servable(name, version, label, "");
    }

    private String failure(String name, OptionalLong version, Optional<String> label) {
        GatunException failure =
                catchThrowableOfType(GatunException.class, () -> servables.find(servable(name, version, label)));
        assertThat(failure).as("the look-up fails").isNotNull();
        return failure.code() + " " + failure.getMessage();
    }

    private long found(OptionalLong version, Optional<String> label) {
        return servables.findSingleAnswering(servable("m", version, label)).version();
    }

    @Test
    void shouldFindTheNewestTheNamedAndTheLabelledVersion() {
        assertThat(found(ANY, Optional.empty())).isEqualTo(2);
        assertThat(found(OptionalLong.of(1), Optional.empty())).isEqualTo(1);
        assertThat(found(ANY, Optional.of("stable"))).isEqualTo(1);
    }

    @Test
    void shouldSayWhatItDoesNotFind() {
        assertThat(failure("none", ANY, Optional.empty()))
                .isEqualTo("NOT_FOUND Servable not found for request: Latest(none)");
        assertThat(failure("m", OptionalLong.of(3), Optional.empty()))
                .isEqualTo("NOT_FOUND Servable not found for request: Specific(m, 3)");
        assertThat(failure("m", OptionalLong.of(-1), Optional.empty()))
                .isEqualTo("NOT_FOUND Servable not found for request: Specific(m, -1)");
        assertThat(failure("m", ANY, Optional.of("canary")))
                .isEqualTo("INVALID_ARGUMENT Unrecognized servable version label: canary");
        assertThat(failure("none", ANY, Optional.of("stable")))
                .isEqualTo("INVALID_ARGUMENT Unrecognized servable version label: stable");
        assertThat(failure("m", ANY, Optional.of("gone")))
                .isEqualTo("NOT_FOUND Servable not found for request: Specific(m, 9)");
        assertThat(failure("", ANY, Optional.empty())).isEqualTo("INVALID_ARGUMENT ModelSpec has no name specified.");
    }

    @Test
    void shouldTellStatesOfTheNewestVersionFirst() {
        assertThat(VersionStatuses.of(server, "m", ANY))
                .extracting(ModelVersionStatus::getVersion)
                .containsExactly(2L, 1L);
        assertThat(VersionStatuses.of(server, "m", OptionalLong.of(1)))
                .singleElement()
                .returns(ModelVersionStatus.State.AVAILABLE, ModelVersionStatus::getState);
    }

    @Test
    void shouldRefuseWhenTheServerStops() {
        server.announceStop();

        assertThat(failure("m", ANY, Optional.empty())).isEqualTo("UNAVAILABLE Server exiting");
    }
}
