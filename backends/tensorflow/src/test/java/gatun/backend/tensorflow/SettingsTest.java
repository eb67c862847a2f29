// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.threads.Cores;
import gatun.wire.inference.ModelConfig;
import gatun.wire.tensorflow.ConfigProto;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SettingsTest {
    @TempDir
    private Path folder;

    private static ConfigProto session(Settings settings) throws Exception {
        return ConfigProto.parseFrom(settings.session(ModelConfig.getDefaultInstance()));
    }

    @Test
    void shouldOpenSessionsAsAFileSaysUnlessAnOptionSaysOtherwise() throws Exception {
        Path file = Files.writeString(folder.resolve("session.txt"), """
                intra_op_parallelism_threads: 3
                inter_op_parallelism_threads: -1
                use_per_session_threads: true
                graph_options { rewrite_options { layout_optimizer: OFF } }
                """);
        Settings settings = Settings.DEFAULT.with("session-config-file", file.toString());
        assertThat(session(settings).getIntraOpParallelismThreads()).isEqualTo(3);
        assertThat(session(settings).getInterOpParallelismThreads()).isEqualTo(-1);
        assertThat(session(settings).getUsePerSessionThreads()).isTrue();
        assertThat(session(settings).getGraphOptions().getRewriteOptions().getLayoutOptimizerValue())
                .isEqualTo(2);
        assertThat(session(settings.with("intra_op_parallelism_threads", "5")).getIntraOpParallelismThreads())
                .isEqualTo(5);
    }

    @Test
    void shouldHaveAThreadForEachCoreUnlessToldOtherwise() throws Exception {
        assertThat(session(Settings.DEFAULT).getIntraOpParallelismThreads()).isEqualTo(Cores.physical());
        assertThat(session(Settings.DEFAULT).getInterOpParallelismThreads()).isEqualTo(Cores.physical());
        Settings settings = Settings.DEFAULT.with("inter_op_parallelism_threads", "3");
        assertThat(session(settings).getInterOpParallelismThreads()).isEqualTo(3);
    }

    @Test
    void shouldSayWhatIsWrongWithTheFile() throws Exception {
        Path file = Files.writeString(folder.resolve("session.txt"), "no_such_field: 1");
        assertThatThrownBy(() -> Settings.DEFAULT.with("session-config-file", file.toString()))
                .hasMessageContaining("Error parsing text-format tensorflow.ConfigProto: 1:1")
                .hasMessageContaining("no_such_field");
        assertThatThrownBy(() -> Settings.DEFAULT.with("session-config-file", "/no/such/file"))
                .hasMessageContaining("'session-config-file' is '/no/such/file', which cannot be read");
    }
}
