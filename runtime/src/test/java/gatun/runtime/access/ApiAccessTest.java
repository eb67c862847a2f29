// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.GatunException;
import gatun.runtime.access.ApiAccess.Refusal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ApiAccessTest {
    @TempDir
    Path folder;

    private static Optional<Refusal> ask(ApiAccess access, ApiGroup group, String header, String value) {
        return access.refusal(group, name -> name.equals(header) ? Optional.of(value) : Optional.empty());
    }

    @Test
    void shouldWantTheHeaderOfARestrictedGroupOnly() {
        ApiAccess access =
                new ApiAccess(Map.of(ApiGroup.HEALTH, new ApiAccess.RequiredHeader("key", "secret")), Map.of());
        assertThat(ask(access, ApiGroup.HEALTH, "key", "secret")).isEmpty();
        assertThat(ask(access, ApiGroup.HEALTH, "key", "secre")).contains(new Refusal.MissingHeader("key"));
        assertThat(ask(access, ApiGroup.HEALTH, "other", "secret")).contains(new Refusal.MissingHeader("key"));
        assertThat(ask(access, ApiGroup.INFERENCE, "other", "")).isEmpty();
        assertThat(access.isOpen()).isFalse();
        assertThat(ApiAccess.open().isOpen()).isTrue();
    }

    @Test
    void shouldWantATokenOfTheFileAsItIsNow() throws IOException {
        Path file = Files.writeString(folder.resolve("tokens"), "# ours\n\n one \ntwo\n");
        ApiAccess access = new ApiAccess(Map.of(), Map.of(ApiGroup.INFERENCE, TokenFile.open(file, Duration.ZERO)));
        assertThat(ask(access, ApiGroup.INFERENCE, "authorization", "Bearer one"))
                .isEmpty();
        assertThat(ask(access, ApiGroup.INFERENCE, "authorization", "bearer  two"))
                .isEmpty();
        for (String wrong : new String[] {"one", "Basic one", "Bearer", "Bearer ", "Bearer # ours", "Bearer onetwo"}) {
            assertThat(ask(access, ApiGroup.INFERENCE, "authorization", wrong))
                    .as(wrong)
                    .contains(new Refusal.MissingToken());
        }
        Files.writeString(file, "three\n");
        assertThat(ask(access, ApiGroup.INFERENCE, "authorization", "Bearer three"))
                .isEmpty();
        assertThat(ask(access, ApiGroup.INFERENCE, "authorization", "Bearer one"))
                .isPresent();
        Files.writeString(file, "");
        assertThat(ask(access, ApiGroup.INFERENCE, "authorization", "Bearer three"))
                .isEmpty();
    }

    @Test
    void shouldNotStartWithAFileThatProtectsNothing() throws IOException {
        Path empty = Files.writeString(folder.resolve("empty"), "# nothing\n");
        assertThatThrownBy(() -> TokenFile.open(empty))
                .isInstanceOf(GatunException.class)
                .hasMessage("the token file " + empty + " holds no token; write one on each line");
        assertThatThrownBy(() -> TokenFile.open(folder.resolve("missing")))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("missing cannot be read");
    }
}
