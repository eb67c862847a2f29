// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.events;

import gatun.runtime.ComputeTimes;
import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** One request from head to last byte, in recordings that ask for it. For one thread at a time. */
@Name("gatun.Request")
@Label("Request")
@Description(
        "A request over HTTP, gRPC or a lane, from its head to the end of its response, or one of the server's own process")
@Category({"Gatun", "Requests"})
@Enabled(false)
@StackTrace(false)
@SuppressWarnings("UnusedVariable") // recordings read the fields
public final class RequestEvent extends Event {
    /** Asked whether a recording wants such events; never committed. */
    private static final RequestEvent PROBE = new RequestEvent();

    @Label("Transport")
    @Description("http, grpc, grpc_stream, lane, or embedded for one of the server's own process")
    private String transport = "";

    @Label("Protocol")
    @Description(
            "v2, tensorflow or v1; none for one of the server's own process; empty for a request that is no inference")
    private String protocol = "";

    @Label("Request")
    @Description("Method and path, or the procedure; no more than the first 256 characters")
    private String request = "";

    @Label("Model")
    private String model = "";

    @Label("Version")
    private String version = "";

    @Label("Status")
    @Description("The number or the name of the status that the client got; empty when it got none")
    private String status = "";

    @Label("Trace")
    @Description("The identity of the client's trace, which spans of OpenTelemetry and the access log have, too")
    private String trace = "";

    @Label("Batch Size")
    @Description("The items of the largest run that answered the request, those of other requests included; 0 for none")
    private int batchSize;

    @Label("Bytes Received")
    @Description("Bytes of the body or the messages; -1 where nobody knows, as on a lane")
    @DataAmount
    private long bytesReceived;

    @Label("Bytes Sent")
    @Description("Bytes of the response's body or messages; -1 where nobody knows, as on a lane")
    @DataAmount
    private long bytesSent;

    @Label("Queue")
    @Description("Waiting for an instance; the sum over all models that worked for the request")
    @Timespan(Timespan.NANOSECONDS)
    private long queue;

    @Label("Compute Input")
    @Description("Preparing inputs")
    @Timespan(Timespan.NANOSECONDS)
    private long computeInput;

    @Label("Compute Infer")
    @Description("In the engine")
    @Timespan(Timespan.NANOSECONDS)
    private long computeInfer;

    @Label("Compute Output")
    @Description("Placing outputs")
    @Timespan(Timespan.NANOSECONDS)
    private long computeOutput;

    private RequestEvent() {}

    /** Whether a recording wants such events now. Costs next to nothing where none does. */
    static boolean isWanted() {
        return PROBE.isEnabled();
    }

    /** An event of a request that begins now; null where no recording wants it. */
    static @Nullable RequestEvent start() {
        if (!isWanted()) {
            return null;
        }
        RequestEvent event = new RequestEvent();
        event.begin();
        return event;
    }

    /** Ends the request now. Whether a recording wants it, so that what it was is to be {@linkplain #commit told}. */
    public boolean endWanted() {
        end();
        return shouldCommit();
    }

    /** Says what was asked. */
    public void asked(String newTransport, String newProtocol, String newRequest) {
        transport = newTransport;
        protocol = newProtocol;
        request = EventText.cut(newRequest);
    }

    /** Says which model was asked; empty for none. */
    public void model(String name, String versionText) {
        model = EventText.cut(name);
        version = EventText.cut(versionText);
    }

    /** Says what the client got, and the identity of its trace; empty for none. */
    public void answered(String newStatus, String traceId) {
        status = newStatus;
        trace = traceId;
    }

    /** Says how many bytes came and went; negative where nobody knows. */
    public void byteSizes(long received, long sent) {
        bytesReceived = received;
        bytesSent = sent;
    }

    /** Says how long the stages of an inference took. */
    public void stages(ComputeTimes times) {
        queue = times.queueNanos();
        computeInput = times.inputNanos();
        computeInfer = times.inferNanos();
        computeOutput = times.outputNanos();
        batchSize = times.largestBatch();
    }

    /** Texts of clients and engines in events: only so much of them. */
    static final class EventText {
        /** The most characters of a text that an event keeps. */
        static final int LIMIT = 256;

        private EventText() {}

        /** {@code text}, or its beginning. */
        static String cut(String text) {
            return text.length() <= LIMIT ? text : text.substring(0, LIMIT) + "...";
        }
    }
}
