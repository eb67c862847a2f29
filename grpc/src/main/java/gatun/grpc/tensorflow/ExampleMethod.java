package gatun.grpc.tensorflow;

import gatun.memory.GatunException;
import gatun.memory.Tensor;
import gatun.runtime.EntryPoint;
import java.util.List;

/**
 * What may be made of examples, by the conventions of TensorFlow's signatures. Has no state.
 *
 * @param <R> the message of the result
 */
interface ExampleMethod<R> {
    /** The input that takes the examples. */
    String INPUTS = "inputs";

    /**
     * The outputs that the result is made of.
     *
     * @throws GatunException INVALID_ARGUMENT when the signature does not keep to the convention
     */
    List<String> outputs(EntryPoint signature);

    /**
     * The result.
     *
     * @param outputs those that were asked for, in their order
     * @param examples how many examples were given
     * @throws GatunException INVALID_ARGUMENT when the outputs are not as they should be
     */
    R result(List<Tensor> outputs, int examples);
}
