// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.access;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.InferenceRequest;
import gatun.runtime.server.TestServer;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HeaderForwardingTest {
    private static final String MODEL = """
            backend: "scripted"
            input [ { name: "IN" data_type: TYPE_FP32 dims: [ 1 ] } ]
            output [ { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } ]
            """;

    @TempDir
    private Path folder;

    private Set<String> forwarded(String pattern, String... headers) {
        try (TestServer server = new TestServer(folder).model("m", MODEL).open(execution -> {});
                InferenceRequest request = server.request("m")) {
            HeaderForwarding forwarding = HeaderForwarding.of(Pattern.compile(pattern));
            for (String header : headers) {
                forwarding.forward(header, "value", request);
            }
            return Set.copyOf(request.parameters().keySet());
        }
    }

    @Test
    void shouldMatchInEitherCase() {
        assertThat(forwarded("MY_.*", "my_one", "MY_two", "other")).containsExactlyInAnyOrder("my_one", "MY_two");
    }

    @Test
    void shouldMindTheCaseWhereThePatternWantsIt() {
        assertThat(forwarded("(?-i)MY_.*", "my_one", "MY_two")).containsExactly("MY_two");
    }
}
