// SPDX-License-Identifier: Apache-2.0
package gatun.it.v1;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** The header of an inference request, which v1's clients write as text for HTTP and as a message for gRPC. */
public final class V1Header {
    private final StringBuilder text = new StringBuilder();
    private final V1Message message = new V1Message();
    private final List<byte[]> data = new ArrayList<>();

    /** A window of shared memory. */
    public record Window(String region, long offset, long byteSize) {
        private V1Message message() {
            return new V1Message().text(1, region).number(2, offset).number(3, byteSize);
        }

        private String text() {
            return " shared_memory { name: \"%s\" offset: %d byte_size: %d }".formatted(region, offset, byteSize);
        }
    }

    public static V1Header batch(long size) {
        return new V1Header().number("batch_size", 1, size);
    }

    public V1Header id(long id) {
        return number("id", 5, id);
    }

    public V1Header flags(int flags) {
        return number("flags", 6, flags);
    }

    public V1Header sequence(long id) {
        return number("correlation_id", 4, id);
    }

    public V1Header priority(int priority) {
        return number("priority", 7, priority);
    }

    public V1Header timeoutMicros(long micros) {
        return number("timeout_microseconds", 8, micros);
    }

    private V1Header number(String name, int field, long value) {
        text.append(name).append(": ").append(Long.toUnsignedString(value)).append(' ');
        message.number(field, value);
        return this;
    }

    /** An input whose data is sent. */
    public V1Header input(String name, byte[] bytes, long... dims) {
        return sized(name, bytes, 0, dims);
    }

    /** An input whose data is sent, with its size. */
    public V1Header sized(String name, byte[] bytes, long byteSize, long... dims) {
        data.add(bytes);
        return input(name, "", byteSize, new V1Message(), dims);
    }

    /** An input in shared memory. */
    public V1Header input(String name, Window window, long... dims) {
        return input(name, window.text(), 0, new V1Message().message(4, window.message()), dims);
    }

    private V1Header input(String name, String windowText, long byteSize, V1Message input, long... dims) {
        text.append("input { name: \"").append(name).append('"');
        input.text(1, name);
        if (dims.length > 0) {
            String list = Arrays.stream(dims).mapToObj(Long::toString).collect(Collectors.joining(", "));
            text.append(" dims: [ ").append(list).append(" ]");
            Arrays.stream(dims).forEach(dim -> input.number(2, dim));
        }
        if (byteSize != 0) {
            text.append(" batch_byte_size: ").append(byteSize);
            input.number(3, byteSize);
        }
        text.append(windowText).append(" } ");
        message.message(2, input);
        return this;
    }

    /** An output, to be sent. */
    public V1Header output(String name) {
        text.append("output { name: \"").append(name).append("\" } ");
        message.message(3, new V1Message().text(1, name));
        return this;
    }

    /** The best classes of an output. */
    public V1Header classes(String name, int count) {
        text.append("output { name: \"%s\" cls { count: %d } } ".formatted(name, count));
        message.message(3, new V1Message().text(1, name).message(3, new V1Message().number(1, count)));
        return this;
    }

    /** An output that goes to shared memory. */
    public V1Header output(String name, Window window) {
        text.append("output { name: \"")
                .append(name)
                .append('"')
                .append(window.text())
                .append(" } ");
        message.message(3, new V1Message().text(1, name).message(4, window.message()));
        return this;
    }

    public String text() {
        return text.toString();
    }

    public V1Message message() {
        return message;
    }

    /** The data of the inputs that are sent, in order. */
    public List<byte[]> data() {
        return data;
    }
}
