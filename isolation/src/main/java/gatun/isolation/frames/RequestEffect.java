// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.frames;

import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.ExecutionRequest;
import gatun.spi.ParameterValue;
import gatun.workers.FrameReader;
import gatun.workers.FrameValues;
import gatun.workers.FrameWriter;

/** Something that an engine tells of one request during a run. */
public sealed interface RequestEffect {
    /** Writes it to a frame. */
    default void write(FrameWriter frame) {
        switch (this) {
            case Parameter effect -> FrameValues.writeParameter(frame.u8(Parameter.KIND), effect.name, effect.value);
            case Again effect -> frame.u8(Again.KIND);
            case Skip effect -> frame.u8(Skip.KIND);
            case Activity effect -> frame.u8(Activity.KIND).text(effect.name);
            case LeftOut effect -> frame.u8(LeftOut.KIND).text(effect.output);
            case Failure effect -> FrameValues.writeFailure(frame.u8(Failure.KIND), effect.reason);
        }
    }

    /** Tells the request itself. */
    default void tell(ExecutionRequest request) {
        switch (this) {
            case Parameter effect -> request.responseParameter(effect.name, effect.value);
            case Again effect -> request.runAgain();
            case Skip effect -> request.skipResponse();
            case Activity effect -> request.traceActivity(effect.name);
            case LeftOut effect -> request.leaveOut(effect.output);
            case Failure effect -> request.fail(effect.reason);
        }
    }

    /** Reads one from a frame. */
    static RequestEffect read(FrameReader frame) {
        int kind = frame.u8();
        return switch (kind) {
            case Parameter.KIND -> new Parameter(frame.text(), FrameValues.readParameter(frame));
            case Again.KIND -> new Again();
            case Skip.KIND -> new Skip();
            case Activity.KIND -> new Activity(frame.text());
            case LeftOut.KIND -> new LeftOut(frame.text());
            case Failure.KIND -> new Failure(FrameValues.readFailure(frame));
            default -> throw new GatunException(ErrorCode.INTERNAL, "an engine told number " + kind + " of a request");
        };
    }

    /** A parameter of its next response. */
    record Parameter(String name, ParameterValue value) implements RequestEffect {
        private static final int KIND = 0;
    }

    /** That it is to run again. */
    record Again() implements RequestEffect {
        private static final int KIND = 1;
    }

    /** That its next response is left out. */
    record Skip() implements RequestEffect {
        private static final int KIND = 2;
    }

    /** Something for its trace. */
    record Activity(String name) implements RequestEffect {
        private static final int KIND = 3;
    }

    /** That it gets no output of that name. */
    record LeftOut(String output) implements RequestEffect {
        private static final int KIND = 5;
    }

    /** That it has failed. */
    record Failure(GatunException reason) implements RequestEffect {
        private static final int KIND = 4;
    }
}
