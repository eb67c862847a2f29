// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TargetServerTest {
    @Test
    void shouldAskTheUsualServerWhereNoneIsNamed() {
        assertThat(TargetServer.of(new TargetFlags()))
                .extracting(TargetServer::url)
                .containsExactly("http://localhost:8000");
    }

    @Test
    void shouldMeasureEveryTransportOverEveryAddressThatHasIt() {
        TargetFlags flags = new TargetFlags();
        flags.urls = List.of("http://a:1", "grpc://a:2", "unix:/run/gatun.sock");
        flags.transports = List.of("binary", "json", "stream+posix", "sealed");
        flags.embedded = Optional.of(Path.of("models"));
        assertThat(TargetServer.of(flags))
                .extracting(TargetServer::text)
                .containsExactly(
                        "http binary",
                        "http json",
                        "http binary sealed",
                        "grpc",
                        "grpc stream posix",
                        "grpc sealed",
                        "unix binary",
                        "unix json",
                        "unix binary sealed",
                        "embedded");
    }

    @Test
    void shouldRefuseATransportThatNoAddressHas() {
        TargetFlags flags = new TargetFlags();
        flags.urls = List.of("grpc://a:2");
        flags.transports = List.of("json");
        assertThatThrownBy(() -> TargetServer.of(flags))
                .hasMessage(
                        "--transport=json: grpc://a:2 cannot do it: json wants an address of HTTP, stream one of gRPC,"
                                + " lane one like lane:/PATH");
        flags.transports = List.of("fast");
        assertThatThrownBy(() -> TargetServer.of(flags))
                .hasMessageContaining("'fast' is no transport: expected binary");
        flags.urls = List.of("ftp://a");
        assertThatThrownBy(() -> TargetServer.of(flags)).hasMessageContaining("'ftp://a' is no address of a server");
    }

    @Test
    void shouldSpeakJsonWithTensorFlowServingOverHttp() {
        TargetFlags flags = new TargetFlags();
        flags.protocol = TargetFlags.Protocol.TENSORFLOW;
        flags.urls = List.of("http://a:8501", "grpc://a:8500");
        assertThat(TargetServer.of(flags)).extracting(TargetServer::text).containsExactly("http json", "grpc");
    }

    @Test
    void shouldMeasureOnlyThisProcessWhereNoServerIsNamedBesideIt() {
        TargetFlags flags = new TargetFlags();
        flags.embedded = Optional.of(Path.of("models"));
        assertThat(TargetServer.of(flags)).extracting(TargetServer::text).containsExactly("embedded");
    }
}
