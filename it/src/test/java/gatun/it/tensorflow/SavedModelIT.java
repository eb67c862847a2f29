// SPDX-License-Identifier: Apache-2.0
package gatun.it.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.it.harness.HttpApi;
import gatun.it.harness.ServerProcess;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The models of {@code examples/tensorflow} on the real server without TensorFlow. */
class SavedModelIT {
    @TempDir
    Path folder;

    @Test
    void shouldServeTheOthersAndSayHowToInstallTensorFlow() throws Exception {
        Map<String, String> environment = Map.of("GATUN_CACHE", folder.toString());
        try (ServerProcess server =
                        ServerProcess.launch(SavedModelProtocolsIT.models(), environment, "--exit-on-error=false");
                HttpApi api = new HttpApi(server)) {
            assertThat(api.post("/v2/repository/index", "").body())
                    .contains("\"name\":\"half_plus_two\",\"version\":\"1\",\"state\":\"UNAVAILABLE\"")
                    .contains("TensorFlow is not installed; install it with './gatun install tensorflow'");
        }
    }
}
