// SPDX-License-Identifier: Apache-2.0
package gatun.server.logging;

import gatun.runtime.ComputeTimes;
import gatun.runtime.logging.AccessEntry;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The lines of the access log: JSON, or {@code name=value} pairs of the same names; unknown values are left out. */
final class AccessLines {
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern(
                    "yyyy-MM-dd'T'HH:mm:ss.SSSSSS'Z'", Locale.ROOT)
            .withZone(ZoneOffset.UTC);

    private static final long NANOS_PER_MICRO = 1000;

    private final boolean json;

    AccessLines(boolean json) {
        this.json = json;
    }

    /** Takes the parts of a line. */
    private interface Line {
        void text(String name, String value);

        void number(String name, long value);
    }

    /** Appends the line of {@code entry}, with its end. */
    void append(StringBuilder lines, AccessEntry entry) {
        if (json) {
            JsonLine object = new JsonLine(lines);
            write(entry, new Line() {
                @Override
                public void text(String name, String value) {
                    object.text(name, value);
                }

                @Override
                public void number(String name, long value) {
                    object.number(name, value);
                }
            });
            object.end();
        } else {
            Pairs pairs = new Pairs(lines);
            write(entry, pairs);
            lines.append('\n');
        }
    }

    private static void write(AccessEntry entry, Line line) {
        line.text("time", TIME.format(entry.time()));
        line.text("transport", entry.transport());
        line.text("protocol", entry.protocol());
        line.text("peer", peer(entry.peer()));
        line.text("request", entry.request());
        line.text("model", entry.model());
        line.text("version", entry.version());
        line.text("status", entry.status());
        line.number("in_bytes", entry.inByteSize());
        line.number("out_bytes", entry.outByteSize());
        line.number("total_us", entry.durationNanos() / NANOS_PER_MICRO);
        ComputeTimes times = entry.times();
        if (times != null) {
            stages(times, line);
        }
        line.text("id", entry.requestId());
        line.text("trace", entry.traceId());
    }

    private static void stages(ComputeTimes times, Line line) {
        line.number("queue_us", times.queueNanos() / NANOS_PER_MICRO);
        line.number("compute_input_us", times.inputNanos() / NANOS_PER_MICRO);
        line.number("compute_infer_us", times.inferNanos() / NANOS_PER_MICRO);
        line.number("compute_output_us", times.outputNanos() / NANOS_PER_MICRO);
    }

    private static String peer(@Nullable SocketAddress address) {
        if (address == null) {
            return "";
        }
        if (address instanceof InetSocketAddress tcp && tcp.getAddress() != null) {
            String host = tcp.getAddress().getHostAddress();
            return (host.indexOf(':') < 0 ? host : "[" + host + "]") + ":" + tcp.getPort();
        }
        return "unix"; // a client's end of such a socket has no name
    }

    /** Values with blanks, quotes or control characters stand in double quotes, escaped as in JSON. */
    private static final class Pairs implements Line {
        private final StringBuilder line;
        private boolean begun;

        Pairs(StringBuilder line) {
            this.line = line;
        }

        @Override
        public void text(String name, String value) {
            if (value.isEmpty()) {
                return;
            }
            name(name);
            if (value.chars().allMatch(Pairs::isPlain)) {
                line.append(value);
            } else {
                JsonLine.quote(line, value);
            }
        }

        @Override
        public void number(String name, long value) {
            if (value >= 0) {
                name(name);
                line.append(value);
            }
        }

        private void name(String name) {
            if (begun) {
                line.append(' ');
            }
            begun = true;
            line.append(name).append('=');
        }

        private static boolean isPlain(int c) {
            return c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '=';
        }
    }
}
