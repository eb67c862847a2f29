package gatun.tensorflow.serving;

import gatun.memory.GatunException;
import gatun.runtime.EntryPoint;
import gatun.runtime.EntryTensor;
import gatun.runtime.ModelVersion;
import java.util.List;
import java.util.stream.Stream;

/** What may be made of examples, by the conventions of TensorFlow's signatures. */
public enum ExampleMethod {
    /** Labels and scores for each example. */
    CLASSIFY("tensorflow/serving/classify") {
        @Override
        public List<String> outputs(EntryPoint signature) {
            requireOneInput(signature);
            int outputs = signature.outputs().size();
            if (outputs != 1 && outputs != 2) {
                throw GatunException.invalidArgument("Expected one or two output Tensors, found " + outputs);
            }
            if (!has(signature.inputs(), INPUTS)) {
                throw GatunException.invalidArgument(
                        "No classification inputs found in SignatureDef: " + SignatureDefs.of(signature));
            }
            List<String> wanted = Stream.of(ScoredClasses.CLASSES, ScoredClasses.SCORES)
                    .filter(name -> has(signature.outputs(), name))
                    .toList();
            if (wanted.isEmpty()) {
                throw GatunException.invalidArgument(
                        "Expected classification signature outputs to contain at least one of \"classes\" or"
                                + " \"scores\". Signature was: " + SignatureDefs.of(signature));
            }
            return wanted;
        }
    },

    /** One number for each example. */
    REGRESS("tensorflow/serving/regress") {
        @Override
        public List<String> outputs(EntryPoint signature) {
            requireOneInput(signature);
            if (signature.outputs().size() != 1) {
                throw GatunException.invalidArgument("Expected one output Tensor.");
            }
            if (!has(signature.inputs(), INPUTS)) {
                throw GatunException.invalidArgument(
                        "No regression inputs found in SignatureDef: " + SignatureDefs.of(signature));
            }
            if (!has(signature.outputs(), RegressedValues.OUTPUTS)) {
                throw GatunException.invalidArgument(
                        "No regression outputs found in SignatureDef: " + SignatureDefs.of(signature));
            }
            return List.of(RegressedValues.OUTPUTS);
        }
    };

    /** The input that takes the examples. */
    public static final String INPUTS = "inputs";

    private final String signatureMethod;

    ExampleMethod(String signatureMethod) {
        this.signatureMethod = signatureMethod;
    }

    /** What signatures call it, such as {@code tensorflow/serving/classify}. */
    public String signatureMethod() {
        return signatureMethod;
    }

    /**
     * The signature of {@code model} that a request names.
     *
     * @throws GatunException INVALID_ARGUMENT when there is none of that name, or it does not keep to the convention
     */
    public EntryPoint signature(ModelVersion model, Servable wanted) {
        EntryPoint signature = model.entryPoints().get(wanted.entryPoint());
        if (signature == null) {
            throw GatunException.invalidArgument("No signature was found with the name: " + wanted.entryPoint());
        }
        List<String> ignored = outputs(signature);
        return signature;
    }

    /**
     * The outputs that the answer is made of.
     *
     * @throws GatunException INVALID_ARGUMENT when the signature does not keep to the convention
     */
    public abstract List<String> outputs(EntryPoint signature);

    private static void requireOneInput(EntryPoint signature) {
        if (signature.inputs().size() != 1) {
            throw GatunException.invalidArgument("Expected one input Tensor.");
        }
    }

    private static boolean has(List<EntryTensor> tensors, String name) {
        return tensors.stream().anyMatch(tensor -> tensor.spec().name().equals(name));
    }
}
