// SPDX-License-Identifier: Apache-2.0
package gatun.v2.http;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.protocol.testing.ListenerUnderTest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LoggingTest {
    private static final String STANDARD =
            "{\"log_file\":\"\",\"log_info\":true,\"log_warning\":true,\"log_error\":true,"
                    + "\"log_verbose_level\":0,\"log_format\":\"default\"}";

    private ListenerUnderTest edge;

    @BeforeEach
    void start(@TempDir Path repository) {
        edge = V2TestServer.start(repository);
    }

    @AfterEach
    void stop() {
        edge.close();
    }

    @Test
    void shouldTellTheSettings() {
        assertThat(edge.get("/v2/logging").body()).isEqualTo(STANDARD);
    }

    @Test
    void shouldChangeWhatIsNamedAndLeaveTheRest() {
        String changed = "{\"log_file\":\"\",\"log_info\":false,\"log_warning\":true,\"log_error\":true,"
                + "\"log_verbose_level\":2,\"log_format\":\"ISO8601\"}";
        HttpResponse<String> response = edge.post(
                "/v2/logging",
                "{\"log_info\":false,\"log_error\":null,\"log_verbose_level\":2,\"log_format\":\"ISO8601\",\"other\":1}");
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.body()).isEqualTo(changed);
        assertThat(edge.get("/v2/logging").body()).isEqualTo(changed);
    }

    @Test
    void shouldChangeNothingWhenOneValueIsWrong() {
        HttpResponse<String> file = edge.post("/v2/logging", "{\"log_info\":false,\"log_file\":\"/tmp/x\"}");
        assertThat(file.statusCode()).isEqualTo(501);
        assertThat(file.body())
                .isEqualTo("{\"error\":\"log file location can not be updated through network protocol\"}");
        HttpResponse<String> format = edge.post("/v2/logging", "{\"log_info\":false,\"log_format\":\"loud\"}");
        assertThat(format.statusCode()).isEqualTo(503);
        assertThat(format.body()).isEqualTo("{\"error\":\"invalid argument for --log_format, got: loud\"}");
        HttpResponse<String> type = edge.post("/v2/logging", "{\"log_warning\":false,\"log_info\":1}");
        assertThat(type.statusCode()).isEqualTo(400);
        assertThat(type.body()).isEqualTo("{\"error\":\"attempt to access JSON non-boolean as boolean\"}");
        assertThat(edge.get("/v2/logging").body()).isEqualTo(STANDARD);
    }

    @Test
    void shouldRefuseOtherMethods() {
        assertThat(edge.send(edge.request("/v2/logging").DELETE().build()).statusCode())
                .isEqualTo(405);
    }
}
