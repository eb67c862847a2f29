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
    void write(FrameWriter frame);

    /** Tells the request itself. */
    void tell(ExecutionRequest request);

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

        @Override
        public void write(FrameWriter frame) {
            FrameValues.writeParameter(frame.u8(KIND), name, value);
        }

        @Override
        public void tell(ExecutionRequest request) {
            request.responseParameter(name, value);
        }
    }

    /** That it is to run again. */
    record Again() implements RequestEffect {
        private static final int KIND = 1;

        @Override
        public void write(FrameWriter frame) {
            frame.u8(KIND);
        }

        @Override
        public void tell(ExecutionRequest request) {
            request.runAgain();
        }
    }

    /** That its next response is left out. */
    record Skip() implements RequestEffect {
        private static final int KIND = 2;

        @Override
        public void write(FrameWriter frame) {
            frame.u8(KIND);
        }

        @Override
        public void tell(ExecutionRequest request) {
            request.skipResponse();
        }
    }

    /** Something for its trace. */
    record Activity(String name) implements RequestEffect {
        private static final int KIND = 3;

        @Override
        public void write(FrameWriter frame) {
            frame.u8(KIND).text(name);
        }

        @Override
        public void tell(ExecutionRequest request) {
            request.traceActivity(name);
        }
    }

    /** That it gets no output of that name. */
    record LeftOut(String output) implements RequestEffect {
        private static final int KIND = 5;

        @Override
        public void write(FrameWriter frame) {
            frame.u8(KIND).text(output);
        }

        @Override
        public void tell(ExecutionRequest request) {
            request.leaveOut(output);
        }
    }

    /** That it has failed. */
    record Failure(GatunException reason) implements RequestEffect {
        private static final int KIND = 4;

        @Override
        public void write(FrameWriter frame) {
            FrameValues.writeFailure(frame.u8(KIND), reason);
        }

        @Override
        public void tell(ExecutionRequest request) {
            request.fail(reason);
        }
    }
}
