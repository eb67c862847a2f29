// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.grpc;

import static gatun.tensorflow.serving.grpc.TensorFlowFixture.failure;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import gatun.testing.Await;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.Example;
import gatun.wire.tensorflow.MonitorRequest;
import gatun.wire.tensorflow.MonitorResponse;
import gatun.wire.tensorflow.ProfileOptions;
import gatun.wire.tensorflow.ProfileRequest;
import gatun.wire.tensorflow.ProfileResponse;
import gatun.wire.tensorflow.ProfilerServiceGrpc;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.TensorShapeProto;
import gatun.wire.tensorflow.TerminateRequest;
import gatun.wire.tensorflow.profiler.XEvent;
import gatun.wire.tensorflow.profiler.XLine;
import gatun.wire.tensorflow.profiler.XPlane;
import gatun.wire.tensorflow.profiler.XSpace;
import gatun.wire.tensorflow.serving.ClassificationRequest;
import gatun.wire.tensorflow.serving.PredictRequest;
import gatun.wire.tensorflow.serving.PredictionServiceGrpc;
import io.grpc.Status;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Profiles and rates as TensorFlow's clients ask for them. Those of a minute end only because something ends them. */
@Timeout(50)
class ProfilerServiceTest {
    private static final long MINUTE_MS = 60_000;

    private TensorFlowFixture fixture;

    @BeforeEach
    void prepare(@TempDir Path folder) {
        fixture = new TensorFlowFixture(folder)
                .model("m", """
                        input [ { name: "x" data_type: TYPE_FP32 dims: [ -1 ] } ]
                        output [ { name: "y" data_type: TYPE_FP32 dims: [ -1 ] } ]
                        """, 1)
                .model("judge", "judge", """
                        input [ { name: "inputs" data_type: TYPE_STRING dims: [ -1 ] } ]
                        output [ { name: "classes" data_type: TYPE_STRING dims: [ -1, -1 ] },
                                 { name: "scores" data_type: TYPE_FP32 dims: [ -1, -1 ] } ]
                        """, 3)
                .open();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    private static ProfileRequest.Builder minute() {
        return ProfileRequest.newBuilder().setDurationMs(MINUTE_MS).setSessionId("s");
    }

    /** Asks for a profile; returns when it is being recorded. */
    private ListenableFuture<ProfileResponse> begin(ProfileRequest.Builder request) {
        ListenableFuture<ProfileResponse> response =
                ProfilerServiceGrpc.newFutureStub(fixture.channel()).profile(request.build());
        Await.until("the profile to begin", fixture::isTracing);
        return response;
    }

    private void awaitEnd() {
        Await.until("the profile to end", () -> !fixture.isTracing());
    }

    private void terminate(String session) {
        assertThat(fixture.profiler()
                        .terminate(TerminateRequest.newBuilder()
                                .setSessionId(session)
                                .build()))
                .isNotNull();
    }

    private void predict() {
        TensorProto.Builder input = TensorProto.newBuilder()
                .setDtype(DataType.DT_FLOAT)
                .setTensorShape(TensorShapeProto.newBuilder()
                        .addDim(TensorShapeProto.Dim.newBuilder().setSize(2)))
                .setTensorContent(ByteString.copyFrom(new byte[8]));
        PredictRequest.Builder request = PredictRequest.newBuilder().putInputs("x", input.build());
        request.getModelSpecBuilder().setName("m");
        assertThat(fixture.prediction().predict(request.build()).getOutputsMap())
                .containsOnlyKeys("y");
    }

    private static String code(Future<?> call) throws InterruptedException {
        try {
            return "OK " + call.get();
        } catch (ExecutionException e) {
            return Status.fromThrowable(e).getCode() + " "
                    + Status.fromThrowable(e).getDescription();
        }
    }

    private static List<String> kinds(XPlane plane, XLine line) {
        return line.getEventsList().stream()
                .map(event ->
                        plane.getEventMetadataOrThrow(event.getMetadataId()).getName())
                .toList();
    }

    @Test
    void shouldTellWhatRequestsDoUntilItIsTerminated() throws Exception {
        ListenableFuture<ProfileResponse> response = begin(minute().setHostName("here"));
        predict();
        predict();
        terminate("another");
        assertThat(response.isDone()).isFalse();
        terminate("s");

        ProfileResponse profile = response.get();
        assertThat(profile.getEmptyTrace()).isFalse();
        assertThat(profile.hasXspace()).isFalse();
        assertThat(profile.getToolDataList()).singleElement().satisfies(tool -> {
            assertThat(tool.getName()).isEqualTo("xplane.pb");
            requireTwoRequests(XSpace.parseFrom(tool.getData()));
        });
        assertThat(fixture.isTracing()).isFalse();
    }

    private static void requireTwoRequests(XSpace space) throws InvalidProtocolBufferException {
        assertThat(space.getHostnamesList()).containsExactly("here");
        assertThat(space.getPlanesList()).singleElement().satisfies(plane -> {
            assertThat(plane.getName()).isEqualTo("/host:CPU");
            assertThat(plane.getLinesList()).singleElement().satisfies(line -> {
                assertThat(line.getName()).isEqualTo("m/1");
                List<String> one = List.of("request", "queue", "compute_input", "compute_infer", "compute_output");
                assertThat(kinds(plane, line))
                        .containsExactlyElementsOf(
                                Stream.of(one, one).flatMap(List::stream).toList());
                XEvent request = line.getEvents(5);
                assertThat(request.getDurationPs()).isPositive();
                assertThat(request.getOffsetPs())
                        .isGreaterThanOrEqualTo(line.getEvents(0).getOffsetPs()
                                + line.getEvents(0).getDurationPs());
                assertThat(line.getEventsList().subList(6, 10)).allSatisfy(part -> assertThat(part.getOffsetPs())
                        .isBetween(
                                request.getOffsetPs(),
                                request.getOffsetPs() + request.getDurationPs() - part.getDurationPs()));
            });
        });
    }

    @Test
    void shouldTellWhatClassifyDoesAndPutTheProfileIntoTheResponseWhereThatIsWanted() throws Exception {
        ListenableFuture<ProfileResponse> response = begin(minute().setEmitXspace(true));
        ClassificationRequest.Builder request = ClassificationRequest.newBuilder();
        request.getModelSpecBuilder().setName("judge");
        request.getInputBuilder().getExampleListBuilder().addExamples(Example.getDefaultInstance());
        // Whether the model likes the example or not: it was asked.
        assertThat(code(PredictionServiceGrpc.newFutureStub(fixture.channel()).classify(request.build())))
                .isNotEmpty();
        terminate("s");

        ProfileResponse profile = response.get();
        assertThat(profile.getToolDataList()).isEmpty();
        assertThat(profile.getXspace().getPlanes(0).getLinesList())
                .extracting(XLine::getName)
                .containsExactly("judge/3");
    }

    @Test
    void shouldSayWhenThereIsNothingToTell() {
        assertThat(fixture.profiler().profile(minute().setDurationMs(1).build()))
                .isEqualTo(ProfileResponse.newBuilder().setEmptyTrace(true).build());
        assertThat(fixture.profiler()
                        .profile(ProfileRequest.getDefaultInstance())
                        .getEmptyTrace())
                .isTrue();
        ProfileRequest.Builder options =
                minute().setOpts(ProfileOptions.newBuilder().setDurationMs(1));
        assertThat(fixture.profiler().profile(options.build()).getEmptyTrace()).isTrue();
    }

    @Test
    void shouldTellNoMoreEventsThanTheClientWants() throws Exception {
        ListenableFuture<ProfileResponse> response =
                begin(minute().setMaxEvents(9).setEmitXspace(true));
        predict();
        predict();
        predict();
        terminate("s");

        XSpace space = response.get().getXspace();
        assertThat(space.getPlanes(0).getLines(0).getEventsCount()).isEqualTo(5);
        assertThat(space.getWarningsList()).singleElement().asString().startsWith("2 requests are left out");
    }

    @Test
    void shouldRefuseDurationsThatAreTooLong() {
        for (long wrong : new long[] {MINUTE_MS + 1, Long.MAX_VALUE, -1, Long.MIN_VALUE}) {
            String told = "RESOURCE_EXHAUSTED duration_ms is " + Long.toUnsignedString(wrong)
                    + ", more than the limit of 60000; ask for several shorter ones";
            assertThat(failure(() -> fixture.profiler()
                            .profile(minute().setDurationMs(wrong).build())))
                    .isEqualTo(told);
            assertThat(failure(() -> fixture.profiler()
                            .profile(
                                    minute().setOpts(ProfileOptions.newBuilder().setDurationMs(wrong))
                                            .build())))
                    .isEqualTo(told);
            assertThat(failure(() -> fixture.profiler()
                            .monitor(MonitorRequest.newBuilder()
                                    .setDurationMs(wrong)
                                    .build())))
                    .isEqualTo(told);
        }
        assertThat(fixture.isTracing()).isFalse();
    }

    @Test
    void shouldRecordOneProfileAtATime() throws Exception {
        ListenableFuture<ProfileResponse> first = begin(minute());
        assertThat(failure(() -> fixture.profiler().profile(minute().build())))
                .startsWith("ALREADY_EXISTS Another profiling session active. Try again");
        predict();
        terminate("s");
        assertThat(first.get().getToolDataCount()).isEqualTo(1);
        assertThat(fixture.profiler().profile(minute().setDurationMs(1).build()).getEmptyTrace())
                .isTrue();
    }

    @Test
    void shouldEndTheProfileOfAClientThatGivesItUp() {
        assertThat(begin(minute()).cancel(true)).isTrue();
        awaitEnd();
    }

    @Test
    void shouldEndTheProfileAtTheClientsDeadline() {
        assertThat(failure(() -> fixture.profiler()
                        .withDeadlineAfter(50, TimeUnit.MILLISECONDS)
                        .profile(minute().build())))
                .startsWith("DEADLINE_EXCEEDED");
        awaitEnd();
    }

    @Test
    void shouldEndTheProfileOfAClientThatDies() {
        ListenableFuture<ProfileResponse> lost = begin(minute());
        fixture.channel().shutdownNow();
        awaitEnd();
        assertThat(lost).isNotNull();
    }

    @Test
    void shouldTellWhatItHasWhenTheServerStops() throws Exception {
        ListenableFuture<ProfileResponse> response = begin(minute());
        predict();
        fixture.announceStop();
        assertThat(response.get().getToolDataCount()).isEqualTo(1);
    }

    @Test
    void shouldTellRates() {
        MonitorRequest.Builder request = MonitorRequest.newBuilder().setDurationMs(1);
        String rates =
                "all models: 0.0 requests/s, 0.0 inferences/s, 0.0 failures/s, queue 0.000 ms, compute 0.000 ms\n";
        assertThat(fixture.profiler().monitor(request.build()).getData()).isEqualTo(rates);
        request.setTimestamp(true).setMonitoringLevel(2);
        assertThat(fixture.profiler().monitor(request.build()).getData())
                .matches("Timestamp: \\d\\d:\\d\\d:\\d\\d\n" + rates);
        assertThat(failure(() -> fixture.profiler().monitor(MonitorRequest.getDefaultInstance())))
                .startsWith("INVALID_ARGUMENT duration_ms is 0");
    }

    @Test
    void shouldLetOnlySomeClientsWaitForRates() throws Exception {
        MonitorRequest minute =
                MonitorRequest.newBuilder().setDurationMs(MINUTE_MS).build();
        List<ListenableFuture<MonitorResponse>> waiting = Stream.generate(() ->
                        ProfilerServiceGrpc.newFutureStub(fixture.channel()).monitor(minute))
                .limit(ProfilerService.MAX_MONITORS + 1L)
                .toList();
        Await.until("one to be refused", () -> waiting.stream().anyMatch(Future::isDone));
        ListenableFuture<MonitorResponse> refused =
                waiting.stream().filter(Future::isDone).findFirst().orElseThrow();
        assertThat(code(refused))
                .isEqualTo("RESOURCE_EXHAUSTED 4 clients wait for rates already, no more are allowed; try again later");
        assertThat(waiting).filteredOn(Future::isDone).hasSize(1);

        waiting.forEach(call -> call.cancel(true));
        MonitorRequest brief = minute.toBuilder().setDurationMs(1).build();
        Await.until("the others to be forgotten", () -> !code(ProfilerServiceGrpc.newFutureStub(fixture.channel())
                        .monitor(brief))
                .startsWith("RESOURCE_EXHAUSTED"));
    }
}
