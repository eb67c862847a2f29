// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.profiling;

import static org.assertj.core.api.Assertions.assertThat;

import gatun.runtime.tracing.RequestTrace;
import gatun.runtime.tracing.TraceEvent.TraceStage;
import gatun.runtime.tracing.Tracing;
import gatun.wire.tensorflow.profiler.XPlane;
import gatun.wire.tensorflow.profiler.XSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Profiles of requests whose times are known. */
class ProfileWriterTest {
    private static final long START = 1000;

    private final Tracing tracing = Tracing.off();

    @AfterEach
    void close() {
        tracing.close();
    }

    private RequestTrace begin(Recording recording, String model) {
        tracing.observe(recording);
        return tracing.begin(model, 1, "", none -> Optional.empty()).orElseThrow();
    }

    private static void run(RequestTrace trace, long from, long to) {
        trace.reached(TraceStage.REQUEST_START, from);
        trace.reached(TraceStage.QUEUE_START, from + 1);
        trace.reached(TraceStage.COMPUTE_START, from + 3);
        trace.reached(TraceStage.COMPUTE_INPUT_END, from + 3);
        trace.reached(TraceStage.COMPUTE_OUTPUT_START, from + 7);
        trace.reached(TraceStage.COMPUTE_END, from + 8);
        trace.reached(TraceStage.REQUEST_END, to);
    }

    private void record(Recording recording, String model, long from, long to) {
        RequestTrace trace = begin(recording, model);
        run(trace, from, to);
        trace.end();
    }

    private static XSpace write(Recording recording) {
        return new ProfileWriter(recording, START, 42).write("host");
    }

    /** The lines as "NAME: KIND FROM+DURATION, …", in nanoseconds. */
    private static List<String> lines(XSpace space) {
        XPlane plane = space.getPlanes(0);
        List<String> lines = new ArrayList<>();
        plane.getLinesList()
                .forEach(line -> lines.add(line.getName() + ": "
                        + String.join(
                                ", ",
                                line.getEventsList().stream()
                                        .map(event -> plane.getEventMetadataOrThrow(event.getMetadataId())
                                                        .getName() + " " + event.getOffsetPs() / 1000 + "+"
                                                + event.getDurationPs() / 1000)
                                        .toList())));
        return lines;
    }

    @Test
    void shouldTellTheStagesOfARequestWithinIt() {
        Recording recording = new Recording(100);
        record(recording, "m", 1010, 1020);

        XSpace space = write(recording);

        assertThat(lines(space))
                .containsExactly("m/1: request 10+10, queue 11+2, compute_input 13+0, compute_infer 13+4,"
                        + " compute_output 17+1");
        assertThat(space.getPlanes(0).getName()).isEqualTo("/host:CPU");
        assertThat(space.getPlanes(0).getStats(0).getUint64Value()).isEqualTo(42);
        assertThat(space.getHostnamesList()).containsExactly("host");
        assertThat(space.getWarningsList()).isEmpty();
    }

    @Test
    void shouldPutRequestsThatOverlapOnLinesOfTheirOwn() {
        Recording recording = new Recording(100);
        record(recording, "m", 1050, 1060);
        record(recording, "m", 1010, 1030);
        record(recording, "m", 1020, 1040);
        record(recording, "n", 1015, 1025);

        assertThat(lines(write(recording)))
                .satisfiesExactly(
                        first -> assertThat(first)
                                .startsWith("m/1: request 10+20")
                                .contains("request 50+10"),
                        second -> assertThat(second)
                                .startsWith("m/1 (2): request 20+20")
                                .doesNotContain("request 50"),
                        other -> assertThat(other).startsWith("n/1: request 15+10"));
    }

    @Test
    void shouldTellTheMembersOfAnEnsemble() {
        Recording recording = new Recording(100);
        RequestTrace ensemble = begin(recording, "ensemble");
        ensemble.reached(TraceStage.REQUEST_START, 1010);
        run(ensemble.child("member", 2), 1012, 1025);
        ensemble.reached(TraceStage.REQUEST_END, 1030);
        ensemble.end();

        assertThat(lines(write(recording)))
                .satisfiesExactly(
                        whole -> assertThat(whole).isEqualTo("ensemble/1: request 10+20"),
                        member -> assertThat(member).startsWith("member/2: request 12+13, queue 13+2"));
    }

    @Test
    void shouldEndTheStagesOfARunWithItsRequest() {
        Recording recording = new Recording(100);
        record(recording, "m", 1010, 1016);

        assertThat(lines(write(recording)))
                .containsExactly("m/1: request 10+6, queue 11+2, compute_input 13+0, compute_infer 13+3");
    }

    @Test
    void shouldTellNothingOfRequestsThatTheServerHasNotTakenOver() {
        Recording recording = new Recording(100);
        RequestTrace refused = begin(recording, "m");
        refused.reached(TraceStage.GRPC_WAITREAD_START, 1010);
        refused.end();
        assertThat(recording.isEmpty()).isTrue();
    }

    @Test
    void shouldLeaveOutWhatIsTooMuchAndSaySo() {
        Recording recording = new Recording(11);
        for (int i = 0; i < 5; i++) {
            record(recording, "m", 1000 + 10L * i, 1010 + 10L * i);
        }

        XSpace space = write(recording);

        assertThat(space.getPlanes(0).getLines(0).getEventsCount()).isEqualTo(10);
        assertThat(space.getWarningsList())
                .containsExactly("3 requests are left out: the profile has as many events as it may have");
    }

    @Test
    void shouldFitIntoWhatClientsTakeByDefault() {
        int events = 100_000;
        Recording recording = new Recording(events);
        long minute = 60_000_000_000L;
        for (int i = 0; i < events / 5; i++) {
            record(recording, "m", minute - 20L * events + 20L * i, minute + START);
        }
        assertThat(write(recording).getSerializedSize()).isLessThan(4 << 20);
    }
}
