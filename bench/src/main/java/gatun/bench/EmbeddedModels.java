// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.client.GatunClient;
import java.nio.file.Path;

/** Serves models within this process, for {@code --embedded}. */
@FunctionalInterface
public interface EmbeddedModels {
    /** A client of the models in {@code modelRepository}, served until it is closed. Waits for their loads. */
    GatunClient open(Path modelRepository);
}
