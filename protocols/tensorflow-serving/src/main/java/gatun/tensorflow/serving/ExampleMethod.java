// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.GatunException;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.tensorflow.serving.ExampleMapping.RegressedValues;
import java.util.List;

/** The methods of signatures that take examples, by TensorFlow's conventions. */
public enum ExampleMethod {
    /** Labels and scores for each example. */
    CLASSIFY("classify", "classification") {
        @Override
        List<String> outputs() {
            return List.of(ScoredClasses.CLASSES, ScoredClasses.SCORES);
        }

        @Override
        void check(EntryPoint signature) {
            requireOneInput(signature);
            int outputs = signature.outputs().size();
            if (outputs != 1 && outputs != 2) {
                throw GatunException.invalidArgument("Expected one or two output Tensors, found " + outputs);
            }
            if (!has(signature.inputs(), INPUTS)) {
                throw GatunException.invalidArgument(
                        "No classification inputs found in SignatureDef: " + SignatureDefs.of(signature));
            }
            if (outputs().stream().noneMatch(name -> has(signature.outputs(), name))) {
                throw GatunException.invalidArgument(
                        "Expected classification signature outputs to contain at least one of \"classes\" or"
                                + " \"scores\". Signature was: " + SignatureDefs.of(signature));
            }
        }
    },

    /** One number for each example. */
    REGRESS("regress", "regression") {
        @Override
        List<String> outputs() {
            return List.of(RegressedValues.OUTPUTS);
        }

        @Override
        void check(EntryPoint signature) {
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
        }
    };

    static final String INPUTS = "inputs";

    private final String verb;
    private final String noun;

    ExampleMethod(String verb, String noun) {
        this.verb = verb;
        this.noun = noun;
    }

    String verb() {
        return verb;
    }

    /** The method's name in signatures, such as {@code tensorflow/serving/classify}. */
    public String signatureMethod() {
        return "tensorflow/serving/" + verb;
    }

    /** Refuses a signature with another method, with INVALID_ARGUMENT; called when the operator wants this check. */
    void checkName(EntryPoint signature) {
        if (!signature.method().equals(signatureMethod())) {
            throw GatunException.invalidArgument("Expected " + noun + " signature method_name to be "
                    + signatureMethod() + ". Was: " + signature.method());
        }
    }

    abstract List<String> outputs();

    /** @throws GatunException INVALID_ARGUMENT when the signature does not keep to the convention */
    abstract void check(EntryPoint signature);

    private static void requireOneInput(EntryPoint signature) {
        if (signature.inputs().size() != 1) {
            throw GatunException.invalidArgument("Expected one input Tensor.");
        }
    }

    private static boolean has(List<EntryTensor> tensors, String name) {
        return tensors.stream().anyMatch(tensor -> tensor.spec().name().equals(name));
    }
}
