// SPDX-License-Identifier: Apache-2.0
package gatun.isolation;

import gatun.spi.Backend;
import gatun.spi.BackendModel;
import gatun.wire.inference.ModelConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;

/** Never answers what a configuration is completed with; writes a file when it is asked. */
public final class SilentBackend implements Backend {
    static final String ASKED = "asked";

    /** For {@link java.util.ServiceLoader}. */
    public SilentBackend() {}

    @Override
    public String name() {
        return "silent";
    }

    @Override
    public ModelConfig complete(ModelConfig config, Path versionDirectory) {
        try {
            Files.createFile(versionDirectory.resolve(ASKED));
            new CountDownLatch(1).await();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return config;
    }

    @Override
    public BackendModel load(ModelConfig config, Path versionDirectory) {
        throw new AssertionError("no model is loaded");
    }
}
