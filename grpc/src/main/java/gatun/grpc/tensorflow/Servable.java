package gatun.grpc.tensorflow;

import gatun.protocol.tensorflow.serving.ModelSpec;
import gatun.runtime.EntryPoint;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * What a request is for, as its client names it.
 *
 * @param name the model
 * @param version its version; empty where the client leaves it open or names a label
 * @param label the label of its version
 * @param signature the signature as the client names it; empty for the default one
 */
record Servable(String name, OptionalLong version, Optional<String> label, String signature) {
    /** What a message names that has been read already. */
    static Servable of(ModelSpec spec) {
        return new Servable(
                spec.getName(),
                spec.hasVersion() ? OptionalLong.of(spec.getVersion().getValue()) : OptionalLong.empty(),
                spec.hasVersionLabel() ? Optional.of(spec.getVersionLabel()) : Optional.empty(),
                spec.getSignatureName());
    }

    /** Whether the client leaves the version open. */
    boolean isAnyVersion() {
        return version.isEmpty() && label.isEmpty();
    }

    /** The entry point that the signature is. */
    String entryPoint() {
        return signature.isEmpty() ? EntryPoint.DEFAULT : signature;
    }
}
