package gatun.runtime.spi;

import gatun.runtime.ParameterValue;
import java.util.Map;

/**
 * A request that an {@link Execution} is for: what there is to know of it beside its tensors. Valid until the run ends; used by the
 * instance's thread only.
 */
public interface ExecutionRequest {
    /** The client's name for the request; empty when it gave none. */
    String id();

    /** How many rows of the batch dimension are this request's; 0 when the model has no such dimension. */
    int batchSize();

    /** The parameters that no protocol gives a meaning, as the client set them. */
    Map<String, ParameterValue> parameters();

    /**
     * Sets a parameter of the response that is made next. One that is set twice has the later value.
     *
     * @param name not one that begins with {@code triton_}, which the protocol keeps for itself
     */
    void responseParameter(String name, ParameterValue value);

    /** Whether the client has given the request up meanwhile, so that work for it alone may be left out. */
    boolean cancelled();
}
