package gatun.http.tensorflow;

import gatun.memory.GatunException;
import gatun.runtime.EntryPoint;
import gatun.runtime.EntryTensor;
import gatun.runtime.OutputTensor;
import java.util.List;

/** What may be made of examples, by the conventions of TensorFlow's signatures. Safe for any thread. */
interface ExampleMethod {
    /** The input that takes the examples. */
    String INPUTS = "inputs";

    /**
     * Checks that a signature keeps to the convention.
     *
     * @throws GatunException INVALID_ARGUMENT when it does not
     */
    void check(EntryPoint signature);

    /**
     * Writes the whole answer.
     *
     * @param examples how many examples were given
     * @throws GatunException INVALID_ARGUMENT when the outputs are not as they should be
     */
    void write(IndentedJson json, List<OutputTensor> outputs, long examples);

    /** Whether one of {@code tensors} is called so. */
    static boolean has(List<EntryTensor> tensors, String name) {
        return tensors.stream().anyMatch(tensor -> tensor.spec().name().equals(name));
    }
}
