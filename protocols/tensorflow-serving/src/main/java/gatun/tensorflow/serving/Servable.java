// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.runtime.InferenceRequest;
import gatun.spi.EntryPoint;
import gatun.wire.tensorflow.serving.ModelSpec;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The model, version or label, and signature that a client names: empty where it leaves the version open or names a
 * label, and the signature for the default one. Immutable.
 */
public record Servable(String name, OptionalLong version, Optional<String> label, String signature) {
    /** The servable that a parsed message names. */
    public static Servable of(ModelSpec spec) {
        return new Servable(
                spec.getName(),
                spec.hasVersion() ? OptionalLong.of(spec.getVersion().getValue()) : OptionalLong.empty(),
                spec.hasVersionLabel() ? Optional.of(spec.getVersionLabel()) : Optional.empty(),
                spec.getSignatureName());
    }

    /** Says in a request how the client chose the version, for when that one is replaced before the request begins. */
    public void tell(InferenceRequest request) {
        request.anyVersion(version.isEmpty() && label.isEmpty());
        label.ifPresent(request::versionLabel);
    }

    /** The entry point that the signature is. */
    public String entryPoint() {
        return signature.isEmpty() ? EntryPoint.DEFAULT : signature;
    }
}
