// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.memory.tensor.GatunException;
import gatun.runtime.ModelVersion;
import gatun.spi.EntryPoint;
import gatun.tensorflow.serving.Servable;

/** Finds the signature for a request to a model. */
final class Signatures {
    private Signatures() {}

    /**
     * The signature of {@code model} that a request names.
     *
     * @throws GatunException INVALID_ARGUMENT when there is none of that name, or it has no inputs
     */
    static EntryPoint of(ModelVersion model, Servable wanted) {
        EntryPoint signature = model.entryPoints().get(wanted.entryPoint());
        if (signature == null) {
            throw GatunException.invalidArgument(
                    "Serving signature name: \"" + wanted.entryPoint() + "\" not found in signature def");
        }
        if (signature.inputs().isEmpty()) {
            throw GatunException.invalidArgument("Failed to get input map for signature: "
                    + (wanted.signature().isEmpty() ? "DEFAULT" : wanted.signature()));
        }
        return signature;
    }
}
