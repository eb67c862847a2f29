// SPDX-License-Identifier: Apache-2.0
package gatun.server.commandline;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.ClientRegions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Flags that say which clients may do what: by which names they call the server, and what their memory may be. */
class ClientFlagsTest extends CommandFixture {
    @Test
    void shouldTrustClientsWhereTheOperatorSaysSo() {
        assertThat(serve("--trust-client-shm").memory().trustedClients()).isTrue();
        assertThat(serve("--allow-client-shm").memory().trustedClients()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"gpu1.example:8000", "[::1]", "a b", "", "*.example", "http://a"})
    void shouldRefuseWhatIsNoNameOfAHost(String name) {
        assertThat(refuse("--allow-host=" + name))
                .contains("'" + name + "' is not the name of a host: expected a name without a port");
    }

    @Test
    void shouldTakeTheNamesOfTheServerAndWhoSharesMemory() {
        assertThat(serve().clients().hosts()).isEmpty();
        assertThat(serve("--allow-host=gpu1.example", "--allow-host=*")
                        .clients()
                        .hosts())
                .containsExactlyInAnyOrder("gpu1.example", "*");
        assertThat(serve("--allow-remote-client-shm").memory().clientMemory())
                .isEqualTo(new ClientRegions.Rules(false, true));
    }
}
