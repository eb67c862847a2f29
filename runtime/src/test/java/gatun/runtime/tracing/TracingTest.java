// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.tracing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TracingTest {
    private static final String TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    private final Collected collected = new Collected();
    private final Tracing tracing = new Tracing(TraceSettings.off(), collected);

    /** Keeps finished traces. */
    private static final class Collected implements TraceExporter {
        private final List<RequestTrace> traces = new CopyOnWriteArrayList<>();
        private boolean joinsClients;

        @Override
        public String mode() {
            return "collected";
        }

        @Override
        public Map<String, String> settings() {
            return Map.of("place", "here");
        }

        @Override
        public boolean joinsClients() {
            return joinsClients;
        }

        @Override
        public boolean tellsTensors() {
            return false;
        }

        @Override
        public void export(RequestTrace trace) {
            traces.add(trace);
        }

        @Override
        public void flush() {}

        @Override
        public void close() {}
    }

    /** Begins the trace of a request that says nothing of traces. */
    static Optional<RequestTrace> begin(Tracing tracing, String model, long version) {
        return tracing.begin(model, version, "", header -> Optional.empty());
    }

    private Optional<RequestTrace> beginAsked(String traceparent) {
        return tracing.begin("m", 1, traceparent, Optional::of);
    }

    /** Which of the next requests, counted from 1, are traced. */
    private List<Integer> chosen(String model, int count) {
        return IntStream.rangeClosed(1, count)
                .filter(i -> begin(tracing, model, 1).isPresent())
                .boxed()
                .toList();
    }

    private static Map<String, List<String>> timestamps(int rate) {
        return Map.of("trace_level", List.of("TIMESTAMPS"), "trace_rate", List.of(Integer.toString(rate)));
    }

    @Test
    void shouldTraceNothingAtFirst() {
        assertThat(chosen("m", 2000)).isEmpty();
        assertThat(tracing.settings(""))
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "trace_level", List.of("OFF"),
                        "trace_rate", List.of("1000"),
                        "trace_count", List.of("-1"),
                        "place", List.of("here"),
                        "trace_mode", List.of("collected")));
    }

    @Test
    void shouldTraceOneOfSoManyRequests() {
        tracing.change("", timestamps(3));
        assertThat(chosen("m", 9)).containsExactly(3, 6, 9);
    }

    @Test
    void shouldStopAfterSoManyTraces() {
        tracing.change("", timestamps(1));
        tracing.change("", Map.of("trace_count", List.of("2")));
        assertThat(chosen("m", 5)).containsExactly(1, 2);
        assertThat(tracing.settings("").get("trace_count")).containsExactly("0");
    }

    @Test
    void shouldLetAModelHaveSettingsOfItsOwn() {
        tracing.change("loud", timestamps(1));
        assertThat(chosen("loud", 2)).containsExactly(1, 2);
        assertThat(chosen("other", 2)).isEmpty();
        tracing.change("", timestamps(2));
        tracing.change("quiet", Map.of("trace_level", List.of("OFF")));
        assertThat(chosen("quiet", 4)).isEmpty();
        assertThat(tracing.settings("quiet").get("trace_rate")).containsExactly("2");
        tracing.change("quiet", Map.of("trace_level", List.of()));
        assertThat(chosen("quiet", 2)).containsExactly(2);
    }

    @Test
    void shouldTakeSettingsBackToThoseOfTheStart() {
        tracing.change("", timestamps(2));
        tracing.change("", Map.of("trace_level", List.of(), "trace_rate", List.of()));
        assertThat(tracing.settings("").get("trace_rate")).containsExactly("1000");
        assertThat(chosen("m", 2000)).isEmpty();
    }

    @Test
    void shouldChangeNothingWhenOneValueIsWrong() {
        record Wrong(Map<String, List<String>> changes, String text) {}
        for (Wrong wrong : List.of(
                new Wrong(
                        Map.of("trace_level", List.of("OFF", "TENSORS")),
                        "Expect only one trace level 'OFF' is specified"),
                new Wrong(Map.of("trace_level", List.of("ALL")), "Unable to parse 'trace_level', got: ALL"),
                new Wrong(Map.of("trace_rate", List.of("1", "2")), "expect only 1 value for 'trace_rate'"),
                new Wrong(Map.of("trace_rate", List.of("x")), "Unable to parse 'trace_rate', got: x"),
                new Wrong(
                        Map.of("log_frequency", List.of("4294967296")),
                        "Unable to parse 'log_frequency', value is out of range [ 0, 4294967295 ], got: 4294967296"),
                new Wrong(
                        Map.of("trace_count", List.of("-2")),
                        "Unable to parse 'trace_count'. Expecting value >= -1, got: -2"),
                new Wrong(timestamps(0), "Attempting to set invalid trace setting :sample rate must be non-zero"))) {
            assertThatThrownBy(() -> tracing.change("", wrong.changes()))
                    .isInstanceOfSatisfying(
                            GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.INVALID_ARGUMENT))
                    .hasMessage(wrong.text());
        }
        assertThatThrownBy(() -> tracing.change("", Map.of("trace_file", List.of("/tmp/x"))))
                .isInstanceOfSatisfying(
                        GatunException.class, e -> assertThat(e.code()).isEqualTo(ErrorCode.UNSUPPORTED));
        assertThat(tracing.settings("").get("trace_level")).containsExactly("OFF");
    }

    @Test
    void shouldTraceWhatClientsAskForWhateverTheRate() {
        collected.joinsClients = true;
        assertThat(beginAsked(TRACEPARENT)).isEmpty();
        tracing.change("", timestamps(0));
        assertThat(chosen("m", 3)).isEmpty();
        RequestTrace trace = beginAsked(TRACEPARENT).orElseThrow();
        assertThat(trace.joined()).hasValue(new TraceParent("0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"));
        assertThat(trace.child("n", 1).joined()).isEmpty();
        assertThat(trace.children()).extracting(RequestTrace::modelName).containsExactly("n");
        tracing.change("", Map.of("trace_level", List.of("OFF")));
        assertThat(beginAsked(TRACEPARENT)).isEmpty();
    }

    @Test
    void shouldNotAskClientsWhereTracesAreNoPartsOfTheirs() {
        tracing.change("", timestamps(2));
        assertThat(beginAsked(TRACEPARENT)).isEmpty();
        assertThat(beginAsked(TRACEPARENT).orElseThrow().joined()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
                "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                "00-00000000000000000000000000000000-b7ad6b7169203331-01",
                "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
                "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
                "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more"
            })
    void shouldTakeAMalformedTraceparentForNone(String header) {
        assertThat(TraceParent.parse(header)).isEmpty();
        assertThat(TraceParent.parse("cc" + TRACEPARENT.substring(2) + "-more")).isPresent();
    }

    @Test
    void shouldRefuseToTraceToNowhere() {
        try (Tracing nowhere = Tracing.off()) {
            assertThatThrownBy(() -> nowhere.change("", timestamps(1)))
                    .hasMessage("Attempting to set invalid trace setting :trace file name is not given");
        }
    }

    @Test
    void shouldHoldNoTensorsWhereTheyAreNotTold() {
        tracing.change("", Map.of("trace_level", List.of("TENSORS"), "trace_rate", List.of("1")));
        RequestTrace trace = begin(tracing, "m", 1).orElseThrow();
        trace.answered(new Tensor(new TensorSpec("OUT", Datatype.INT8, Shape.of(0)), MemorySegment.NULL));
        assertThat(trace.events()).isEmpty();
    }

    @Test
    void shouldTellATraceOnceWithItsParent() {
        tracing.change("", Map.of("trace_level", List.of("TIMESTAMPS"), "trace_rate", List.of("1")));
        RequestTrace parent = begin(tracing, "ensemble", 2).orElseThrow();
        parent.started("r", List.of());
        RequestTrace child = parent.child("member", 1);
        child.started("r", List.of());
        child.reached(TraceStage.COMPUTE_START, 7);
        child.end();
        parent.end();
        parent.end();
        assertThat(collected.traces).containsExactly(parent);
        assertThat(parent.children()).containsExactly(child);
        assertThat(child.parentId()).isEqualTo(parent.id());
        assertThat(child.requestId()).isEqualTo("r");
        assertThat(child.events()).hasSize(2).last().isEqualTo(new TraceEvent.Timestamp(TraceStage.COMPUTE_START, 7));
        assertThat(Set.of(parent.id(), child.id())).hasSize(2);
    }

    @Test
    void shouldShowAnObserverEveryRequestAndExportOnlyWhatSettingsChoose() {
        List<RequestTrace> seen = new CopyOnWriteArrayList<>();
        tracing.change("", Map.of("trace_level", List.of("TENSORS"), "trace_rate", List.of("2")));
        assertThat(tracing.observe(seen::add)).isTrue();
        List<RequestTrace> traces = IntStream.range(0, 3)
                .mapToObj(i -> begin(tracing, "m", 1).orElseThrow())
                .toList();
        traces.forEach(trace -> {
            trace.reached(TraceStage.QUEUE_START, 5);
            trace.end();
        });

        assertThat(seen).containsExactlyElementsOf(traces);
        assertThat(collected.traces).containsExactly(traces.get(1));
        assertThat(traces).extracting(RequestTrace::isExported).containsExactly(false, true, false);
        assertThat(traces)
                .allSatisfy(trace -> assertThat(trace.timestamps())
                        .containsExactly(new TraceEvent.Timestamp(TraceStage.QUEUE_START, 5)))
                // Nobody has asked for times to be exported.
                .allSatisfy(trace -> assertThat(trace.events()).isEmpty());
    }

    @Test
    void shouldHaveOneObserverAtATimeUntilThatEnds() {
        assertThat(tracing.observe(trace -> {})).isTrue();
        assertThat(tracing.observe(trace -> {})).isFalse();
        tracing.change("", Map.of("trace_rate", List.of("7")));
        assertThat(chosen("m", 3)).containsExactly(1, 2, 3);
        tracing.endObserving();
        assertThat(chosen("m", 3)).isEmpty();
        assertThat(tracing.observe(trace -> {})).isTrue();
    }
}
