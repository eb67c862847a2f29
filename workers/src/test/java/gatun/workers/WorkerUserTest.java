// SPDX-License-Identifier: Apache-2.0
package gatun.workers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import gatun.spi.ConfigurationException;
import gatun.wire.inference.ModelConfig;
import gatun.wire.inference.ModelParameter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The user of a model's processes, on any system that has the users root and nobody. */
class WorkerUserTest {
    private static final long ROOT = 0;

    private static ModelConfig config(String user) {
        return ModelConfig.newBuilder()
                .putParameters(
                        "isolation_user",
                        ModelParameter.newBuilder().setStringValue(user).build())
                .build();
    }

    @Test
    void shouldBeTheServersOwnUnlessAnotherIsNamed() {
        assertThat(WorkerUser.of(ModelConfig.getDefaultInstance(), ROOT)).isEmpty();
        assertThat(WorkerUser.of(config("root"), ROOT)).isEmpty();
        assertThat(WorkerUser.of(config("0"), ROOT)).isEmpty();
        long nobody = WorkerUser.of(config("nobody"), ROOT).orElseThrow().uid();
        assertThat(WorkerUser.of(config("nobody"), nobody)).isEmpty();
    }

    @Test
    void shouldFindAUserByNameAndByNumber() {
        WorkerUser user = WorkerUser.of(config("nobody"), ROOT).orElseThrow();
        assertThat(user.name()).isEqualTo("nobody");
        assertThat(user.uid()).isPositive();
        assertThat(WorkerUser.of(config(Long.toString(user.uid())), ROOT)).contains(user);
        assertThat(user.command())
                .startsWith("setpriv")
                .contains("--reuid=" + user.uid(), "--regid=" + user.gid(), "--init-groups", "--no-new-privs");
        assertThat(user.environment()).containsEntry("HOME", user.home()).containsEntry("USER", "nobody");
    }

    @Test
    void shouldRefuseAnotherUserWhereTheServerIsNotRoot() {
        assertThatExceptionOfType(ConfigurationException.class)
                .isThrownBy(() -> WorkerUser.of(config("root"), 4711))
                .withMessageContaining("parameter 'isolation_user' is 'root', but only a server that runs as root can"
                        + " start processes of other users, and this one runs as user 4711");
    }

    @ParameterizedTest
    @ValueSource(strings = {"--help", "a user", "a;b", "nobody\n", "../nobody", "no-such-user-of-gatun", "4294967290"})
    void shouldRefuseWhatIsNoUser(String user) {
        assertThatExceptionOfType(ConfigurationException.class)
                .isThrownBy(() -> WorkerUser.of(config(user), ROOT))
                .withMessageContaining("parameter 'isolation_user' is '" + user + "', expected ");
    }
}
