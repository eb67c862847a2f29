// SPDX-License-Identifier: Apache-2.0
package gatun.it.backends;

import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Path;

/** As {@link SequenceBackend}, and adds the number of the sequence to the sum in its last step. */
public final class DynaSequenceBackend implements Backend {
    /** For {@link java.util.ServiceLoader}. */
    public DynaSequenceBackend() {}

    @Override
    public String name() {
        return "dyna_sequence";
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        return spec -> new SumInstance(SequenceBackend.delay(config), config.getMaxBatchSize() > 0, true);
    }
}
