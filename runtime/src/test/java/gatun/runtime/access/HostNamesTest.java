// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.access;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostNamesTest {
    private final AtomicInteger lookUps = new AtomicInteger();
    private final HostNames names = new HostNames(Set.of("Models.example", "_proxy.local."), "Gpu1", () -> {
        lookUps.incrementAndGet();
        return "gpu1.lab.example";
    });

    @ParameterizedTest
    @ValueSource(
            strings = {
                "localhost",
                "localhost:8000",
                "localhost:",
                "LocalHost:1",
                "localhost.",
                "localhost.:8000",
                "127.0.0.1",
                "127.0.0.1:8000",
                "127.1",
                "0:8000",
                "2130706433",
                "203.0.113.9:80",
                "[::1]",
                "[::1]:8000",
                "[2001:DB8::a]:65535",
                "[::ffff:127.0.0.1]:8000",
                "[fe80::1%eth0]:8000",
                "gpu1",
                "GPU1:8000",
                "gpu1.lab.example:8000",
                "gpu1.lab.example.",
                "models.example",
                "MODELS.EXAMPLE.:443",
                "_proxy.local"
            })
    void shouldAcceptAddressesAndTheServersNames(String authority) {
        assertThat(names.accept(authority)).isTrue();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ":8000",
                ".",
                "..",
                "evil.example",
                "evil.example:8000",
                "localhost.evil.example",
                "evil.localhost",
                "xlocalhost",
                "localhost..",
                "localhost:8000.evil.example",
                "localhost:800000",
                "localhost:-1",
                "localhost:0x50",
                "localhost:8000:8000",
                "user@localhost",
                "localhost@evil.example",
                "localhost,evil.example",
                "localhost evil.example",
                "127.0.0.1.evil.example",
                "127.0.0.1.",
                "127.0.0.1.5.6",
                "127..1",
                "1.2.3.4x",
                "0x7f.1",
                "[::1",
                "::1",
                "[]",
                "[1234]",
                "[::1]evil.example",
                "[::1].evil.example:80",
                "[evil.example]",
                "[::g]",
                "gpu1.evil.example",
                "gpu1.lab.example.evil",
                "gpu",
                "xgpu1",
                "*",
                "*:8000",
                "models.example.evil"
            })
    void shouldRefuseOtherNames(String authority) {
        assertThat(names.accept(authority)).isFalse();
    }

    @Test
    void shouldRefuseNamesThatAreTooLong() {
        assertThat(names.accept("1".repeat(300))).isFalse();
        assertThat(names.accept("[fe80::1%" + "x".repeat(300) + "]")).isFalse();
    }

    @Test
    void shouldAcceptAnyNameWhereTheOperatorSaysSo() {
        assertThat(names.acceptAny()).isFalse();
        HostNames any = new HostNames(Set.of("*", "a.example"), "", () -> "");
        assertThat(any.acceptAny()).isTrue();
        assertThat(any.accept("evil.example")).isTrue();
    }

    @Test
    void shouldLookTheQualifiedNameUpOnceAndOnlyForNamesThatBeginWithTheMachines() {
        assertThat(names.accept("evil.example")).isFalse();
        assertThat(names.accept("gpu10.example")).isFalse();
        assertThat(lookUps).hasValue(0);
        for (int i = 0; i < 10; i++) {
            assertThat(names.accept("gpu1.evil.example")).isFalse();
        }
        assertThat(lookUps).hasValue(1);
    }

    @Test
    void shouldAcceptNoNameOfAMachineWithoutOne() {
        HostNames nameless = new HostNames(Set.of(), "", () -> "");
        assertThat(nameless.accept("")).isFalse();
        assertThat(nameless.accept("evil.example")).isFalse();
        assertThat(nameless.accept("localhost")).isTrue();
    }

    @Test
    void shouldRefuseWhereTheQualifiedNameCannotBeFound() {
        HostNames broken = new HostNames(Set.of(), "gpu1", () -> {
            throw new IllegalStateException("no resolver");
        });
        assertThat(broken.accept("gpu1.lab.example")).isFalse();
        assertThat(broken.accept("gpu1")).isTrue();
    }

    @Test
    void shouldTellWhatWasSentWhatIsExpectedAndWhatToDo() {
        assertThat(HostNames.refusal("evil.example:8000"))
                .contains("'evil.example:8000'", "an IP address", "localhost", "allow-host=NAME");
        assertThat(HostNames.refusal("")).contains("names no host");
        assertThat(HostNames.refusal("x".repeat(5000)).length()).isLessThan(1000);
    }
}
