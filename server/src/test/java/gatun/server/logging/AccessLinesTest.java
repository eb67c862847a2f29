// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import gatun.runtime.logging.AccessEntry;
import gatun.runtime.logging.AccessLog;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.time.Instant;
import org.junit.jupiter.api.Test;

class AccessLinesTest {
    private static final SocketAddress PEER = new InetSocketAddress(InetAddress.ofLiteral("::1"), 4711);

    private static String line(AccessEntry entry, boolean json) {
        StringBuilder line = new StringBuilder();
        new AccessLines(json).append(line, entry);
        return line.toString();
    }

    private static AccessEntry asked(String path, String model) {
        AccessEntry entry = AccessEntry.begin(AccessLog.OFF, "http", PEER, "GET " + path);
        entry.bind();
        AccessEntry.noteModel(model, "3");
        AccessEntry.unbind();
        return entry;
    }

    @Test
    void shouldTellWhatIsKnownInBothForms() {
        AccessEntry entry = asked("/v2/models/resnet", "resnet");
        entry.traceParent("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        entry.byteSizes(12, 345);
        entry.end("200");

        assertThat(line(entry, false))
                .matches("time=\\S+Z transport=http peer=\\[0:0:0:0:0:0:0:1]:4711 request=\"GET /v2/models/resnet\""
                        + " model=resnet version=3 status=200 in_bytes=12 out_bytes=345 total_us=\\d+"
                        + " trace=0af7651916cd43dd8448eb211c80319c\n");
        JsonObject object = JsonParser.parseString(line(entry, true)).getAsJsonObject();
        assertThat(Instant.parse(object.get("time").getAsString())).isBeforeOrEqualTo(Instant.now());
        assertThat(object.get("request").getAsString()).isEqualTo("GET /v2/models/resnet");
        assertThat(object.get("status").getAsString()).isEqualTo("200");
        assertThat(object.get("out_bytes").getAsLong()).isEqualTo(345);
        assertThat(object.has("id")).isFalse();
        assertThat(object.has("queue_us")).isFalse();
    }

    @Test
    void shouldLeaveOutWhatIsNotKnown() {
        AccessEntry entry =
                AccessEntry.begin(AccessLog.OFF, "grpc", UnixDomainSocketAddress.of(""), "inference.S/ServerLive");
        entry.end("");
        assertThat(line(entry, false))
                .matches("time=\\S+ transport=grpc peer=unix request=inference.S/ServerLive total_us=\\d+\n");
        assertThat(line(AccessEntry.begin(AccessLog.OFF, "lane", null, "infer"), true))
                .doesNotContain("peer");
    }

    @Test
    void shouldKeepClientsFromForgingLines() {
        String evil = "x\" status=200\nE1125 forged\r\u001b[2J\u0085\u2028\u0007\\ \ud83d\ude00 \ud800";
        AccessEntry entry = asked("/" + evil, evil);
        entry.end("404");
        for (boolean json : new boolean[] {false, true}) {
            String line = line(entry, json);
            assertThat(line.lines()).hasSize(1);
            assertThat(line.substring(0, line.length() - 1).chars())
                    .noneMatch(Character::isISOControl)
                    .noneMatch(c -> c == 0x2028);
            assertThat(line).contains("\\u001b[2J", "\\n", "\\\\", "\\\" status=200", "\ud83d\ude00", "\\ud800");
        }
        assertThat(JsonParser.parseString(line(entry, true))
                        .getAsJsonObject()
                        .get("model")
                        .getAsString())
                .isEqualTo(evil);
        assertThat(line(entry, false)).contains("model=\"x\\\" status=200\\nE1125");
    }

    @Test
    void shouldCutWhatIsLong() {
        AccessEntry entry = asked("/" + "p".repeat(5000), "m".repeat(5000));
        entry.end("404");
        assertThat(line(entry, false))
                .hasSizeLessThan(1500)
                .contains(" model=" + "m".repeat(AccessEntry.NAME_LIMIT) + "... ", "ppp...\" ");
    }
}
