package gatun.runtime.tracing;

/** What a trace tells of a request. */
public sealed interface TraceEvent {
    /**
     * The request reached a stage.
     *
     * @param stage which one
     * @param nanos when, as a reading of {@link System#nanoTime}
     */
    record Timestamp(TraceStage stage, long nanos) implements TraceEvent {}

    /**
     * A tensor came by.
     *
     * @param activity where, such as {@code TENSOR_QUEUE_INPUT}
     * @param name the tensor's name
     * @param data its elements, separated by commas
     * @param shape its dimensions, separated by commas
     * @param datatype its datatype's name
     */
    record TensorData(String activity, String name, String data, String shape, String datatype) implements TraceEvent {}
}
