// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.profiling;

import gatun.tensorflow.serving.profiling.ProfiledRequest.Kind;
import gatun.tensorflow.serving.profiling.ProfiledRequest.Span;
import gatun.wire.tensorflow.profiler.XEvent;
import gatun.wire.tensorflow.profiler.XEventMetadata;
import gatun.wire.tensorflow.profiler.XLine;
import gatun.wire.tensorflow.profiler.XPlane;
import gatun.wire.tensorflow.profiler.XSpace;
import gatun.wire.tensorflow.profiler.XStat;
import gatun.wire.tensorflow.profiler.XStatMetadata;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.TreeMap;

/**
 * Puts a recording into TensorFlow's form: one plane, and a line for each version of a model. Where requests to it ran
 * side by side it has further lines, because events of one line may lie within each other but may not overlap.
 */
public final class ProfileWriter {
    private static final long PICOS_PER_NANO = 1000;
    private static final int START_TIME = 1;

    private final Recording recording;
    private final long startNanos;
    private final long startEpochNanos;

    /** {@code startNanos} is the recording's begin by {@link System#nanoTime}, {@code startEpochNanos} since 1970. */
    public ProfileWriter(Recording recording, long startNanos, long startEpochNanos) {
        this.recording = recording;
        this.startNanos = startNanos;
        this.startEpochNanos = startEpochNanos;
    }

    /** A line that is being filled, and when its last event ends. */
    private record OpenLine(XLine.Builder line, long endNanos) {}

    /** The profile; {@code host} is the name that the client gives the server. */
    public XSpace write(String host) {
        XPlane.Builder plane = XPlane.newBuilder().setName("/host:CPU");
        for (Kind kind : Kind.values()) {
            plane.putEventMetadata(
                    kind.wireId(),
                    XEventMetadata.newBuilder()
                            .setId(kind.wireId())
                            .setName(kind.wireName())
                            .build());
        }
        plane.putStatMetadata(
                START_TIME,
                XStatMetadata.newBuilder()
                        .setId(START_TIME)
                        .setName("profile_start_time")
                        .build());
        plane.addStats(XStat.newBuilder().setMetadataId(START_TIME).setUint64Value(startEpochNanos));
        byModel().forEach((name, requests) -> addLines(plane, name, requests));

        XSpace.Builder space = XSpace.newBuilder().addPlanes(plane);
        if (!host.isEmpty()) {
            space.addHostnames(host);
        }
        if (recording.leftOut() > 0) {
            space.addWarnings(
                    recording.leftOut() + " requests are left out: the profile has as many events as it may have");
        }
        return space.build();
    }

    private Map<String, List<ProfiledRequest>> byModel() {
        Map<String, List<ProfiledRequest>> models = new TreeMap<>();
        for (ProfiledRequest request : recording.requests()) {
            models.computeIfAbsent(request.model() + "/" + request.version(), name -> new ArrayList<>())
                    .add(request);
        }
        return models;
    }

    private void addLines(XPlane.Builder plane, String name, List<ProfiledRequest> requests) {
        requests.sort(Comparator.comparingLong(request -> request.whole().startNanos()));
        List<XLine.Builder> lines = new ArrayList<>();
        PriorityQueue<OpenLine> open = new PriorityQueue<>(Comparator.comparingLong(OpenLine::endNanos));
        for (ProfiledRequest request : requests) {
            OpenLine free = open.peek();
            XLine.Builder line;
            if (free != null && free.endNanos() <= request.whole().startNanos()) {
                line = open.remove().line();
            } else {
                line = XLine.newBuilder().setName(lines.isEmpty() ? name : name + " (" + (lines.size() + 1) + ")");
                lines.add(line);
            }
            line.addEvents(event(request.whole()));
            request.parts().forEach(part -> line.addEvents(event(part)));
            open.add(new OpenLine(line, request.whole().endNanos()));
        }
        lines.forEach(line -> plane.addLines(line.setId(plane.getLinesCount() + 1L)));
    }

    private XEvent event(Span span) {
        return XEvent.newBuilder()
                .setMetadataId(span.kind().wireId())
                .setOffsetPs((span.startNanos() - startNanos) * PICOS_PER_NANO)
                .setDurationPs((span.endNanos() - span.startNanos()) * PICOS_PER_NANO)
                .build();
    }
}
