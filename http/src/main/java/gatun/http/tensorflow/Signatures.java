package gatun.http.tensorflow;

import gatun.memory.GatunException;
import gatun.runtime.EntryPoint;
import gatun.runtime.ModelVersion;

/** Finds what a request to a model is to be answered by. */
final class Signatures {
    private Signatures() {}

    /**
     * The signature of {@code model} that a request named.
     *
     * @param name as the request has it; empty when it names none, and means {@code serving_default}
     * @throws GatunException INVALID_ARGUMENT when there is none of that name, or it has no inputs
     */
    static EntryPoint of(ModelVersion model, String name) {
        String wanted = name.isEmpty() ? EntryPoint.DEFAULT : name;
        EntryPoint signature = model.entryPoints().get(wanted);
        if (signature == null) {
            throw GatunException.invalidArgument(
                    "Serving signature name: \"" + wanted + "\" not found in signature def");
        }
        if (signature.inputs().isEmpty()) {
            throw GatunException.invalidArgument(
                    "Failed to get input map for signature: " + (name.isEmpty() ? "DEFAULT" : name));
        }
        return signature;
    }
}
