// SPDX-License-Identifier: Apache-2.0
package gatun.http.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.GatunException;
import gatun.memory.threads.CooperativeYield;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.FutureTask;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What a client can make long: each step of it is followed by a yield, and what has a limit is read no further. */
@Timeout(60)
class LongTokenTest {
    /** How many steps a token is long. */
    private static final int STEPS = 16;

    private static final int LENGTH = STEPS * CooperativeYield.STEP;

    private final Arena arena = Arena.ofShared();

    @AfterEach
    void closeArena() {
        arena.close();
    }

    private static String filled(String part) {
        return part.repeat(LENGTH / part.length());
    }

    private static Arguments reading(String kind, String begin, String part, String end, Consumer<JsonReader> reader) {
        return arguments(kind, begin + filled(part) + end, reader);
    }

    private static void readBytes(JsonReader json, long byteSize) {
        try (Arena own = Arena.ofConfined()) {
            json.copyString(own.allocate(byteSize), 0);
        }
    }

    private static void readFloats(JsonReader json) {
        try (Arena own = Arena.ofConfined()) {
            MemorySegment floats = own.allocate(LENGTH, Float.BYTES);
            json.enterArray("");
            while (json.nextElement()) {
                json.readFloats(floats, 0, LENGTH / Float.BYTES);
            }
        }
    }

    static Stream<Arguments> tokens() {
        Consumer<JsonReader> skip = JsonReader::skipValue;
        Consumer<JsonReader> passOver = JsonReader::passOver;
        Consumer<JsonReader> measure = json -> json.measureArrays(new long[4], 0);
        Consumer<JsonReader> count = JsonReader::countElements;
        Consumer<JsonReader> copy = json -> readBytes(json, json.measureString(""));
        Consumer<JsonReader> strings = json -> json.readTensor(new TensorDataReader().measuringStrings());
        Consumer<JsonReader> counting = json -> json.readTensor(new TensorDataReader().counting("IN", Datatype.FP32));
        return Stream.of(
                reading("blanks before a value", "", " ", "1", skip),
                reading("blanks alone", "", "\n", "", json -> assertThatThrownBy(json::skipValue)),
                reading("blanks in an object", "{\"a\"", "\t", ":1}", skip),
                reading("blanks in an array", "[", "\r", "]", skip),
                reading("blanks in data", "[", " ", "1]", counting),
                reading("blanks in a run", "[1", " ", ",1]", LongTokenTest::readFloats),
                reading("letters", "\"", "a", "\"", skip),
                reading("escapes", "\"", "\\n", "\"", skip),
                reading("escapes in hexadecimal", "\"", "\\u00e9", "\"", skip),
                reading("escapes that are copied", "\"", "\\n", "\"", copy),
                reading("escapes in data", "[\"", "\\n", "\"]", strings),
                reading("members", "{", "\"a\":1,", "\"a\":1}", skip),
                reading("elements", "[", "1,", "1]", count),
                reading("empty arrays", "[", "[],", "[]]", skip),
                reading("empty arrays in data", "[", "[],", "[]]", counting),
                reading("numbers of data", "[", "1,", "1]", counting),
                reading("a run of numbers", "[", "1,", "1]", LongTokenTest::readFloats),
                reading("a string passed over", "[\"", "\\n", "\"]", passOver),
                reading("numbers passed over", "[", "1,", "1]", passOver),
                reading("arrays passed over", "[", "[],", "[]]", passOver),
                reading("arrays measured", "[", "[],", "[]]", measure));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("tokens")
    void shouldYieldAtEachStep(String kind, String text, Consumer<JsonReader> reader) throws Exception {
        JsonReader json = NativeText.reader(arena, text);

        assertThat(yields(() -> reader.accept(json))).as(kind).isGreaterThanOrEqualTo(STEPS - 1);
    }

    @Test
    void shouldNotYieldWithinAStep() throws Exception {
        String text = "{\"a\":[" + "1,".repeat(1000) + "\"" + "\\n".repeat(1000) + "\"]}";

        assertThat(yields(NativeText.reader(arena, text)::skipValue)).isZero();
    }

    static Stream<Arguments> texts() {
        Consumer<JsonReader> read = json -> json.readString("Unable to parse 'id'");
        Consumer<JsonReader> name = json -> {
            json.enterObject("");
            json.nextMember();
        };
        return Stream.of(
                reading("a text", "\"", "a", "\"", read),
                reading("a text of escapes", "\"", "\\n", "\"", read),
                reading("a text that does not end", "\"", "a", "", read),
                reading("a name", "{\"", "a", "\":1}", name));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("texts")
    void shouldReadNoMoreOfATextThanItMayHave(String kind, String text, Consumer<JsonReader> reader) {
        JsonReader json = NativeText.reader(arena, text);

        assertThatThrownBy(() -> reader.accept(json))
                .isInstanceOf(GatunException.class)
                .hasMessageContaining("has 65537 bytes or more, more than the limit of 65536");
        assertThat(json.remaining()).as(kind).isGreaterThan(LENGTH / 2);
    }

    /** How often {@code work} yields on a virtual thread. */
    private static long yields(Runnable work) throws Exception {
        long before = CooperativeYield.count();
        FutureTask<Void> task = new FutureTask<>(work, null);
        Thread.ofVirtual().start(task);
        task.get();
        return CooperativeYield.count() - before;
    }
}
