// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.events;

import gatun.runtime.events.RequestEvent.EventText;
import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Enabled;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.jspecify.annotations.Nullable;

/** One run of an instance in a flight recording. Off unless a recording asks for it. For one thread. */
@Name("gatun.Run")
@Label("Run")
@Description("An instance's work at one request or one batch")
@Category({"Gatun", "Models"})
@Enabled(false)
@StackTrace(false)
@SuppressWarnings("UnusedVariable") // recordings read the fields
public final class RunEvent extends Event {
    /** Asked whether a recording wants such events; never committed. */
    private static final RunEvent PROBE = new RunEvent();

    @Label("Model")
    private String model = "";

    @Label("Version")
    private String version = "";

    @Label("Instance")
    private String instance = "";

    @Label("Requests")
    @Description("How many requests the run was for")
    private int requests;

    @Label("Batch Size")
    @Description("Their items together; 1 for each request to a model without a batch dimension")
    private int batchSize;

    @Label("Compute Input")
    @Description("Preparing inputs; 0 where the run goes on beside the instance")
    @Timespan(Timespan.NANOSECONDS)
    private long computeInput;

    @Label("Compute Infer")
    @Description("In the engine; 0 where the run goes on beside the instance")
    @Timespan(Timespan.NANOSECONDS)
    private long computeInfer;

    @Label("Compute Output")
    @Description("Placing outputs; 0 where the run goes on beside the instance")
    @Timespan(Timespan.NANOSECONDS)
    private long computeOutput;

    private RunEvent() {}

    /** An event of a run that begins now; null where no recording wants it. */
    static @Nullable RunEvent start() {
        if (!PROBE.isEnabled()) {
            return null;
        }
        RunEvent event = new RunEvent();
        event.begin();
        return event;
    }

    /** Ends the run now. Whether a recording wants it, so that what it was is to be told. */
    public boolean endWanted() {
        end();
        return shouldCommit();
    }

    /** Says which instance ran. */
    public void ranBy(String modelName, String versionText, String instanceName) {
        model = EventText.cut(modelName);
        version = versionText;
        instance = EventText.cut(instanceName);
    }

    /** Says what was run. */
    public void batch(int requestCount, int rows) {
        requests = requestCount;
        batchSize = rows;
    }

    /** Says how long the stages took, in nanoseconds. */
    public void stages(long inputNanos, long inferNanos, long outputNanos) {
        computeInput = inputNanos;
        computeInfer = inferNanos;
        computeOutput = outputNanos;
    }
}
