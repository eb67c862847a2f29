// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tensor.GatunException;
import gatun.wire.inference.ModelConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens sessions of a model's file, or of its kept optimised graph; {@code operators} are libraries it needs. */
record ModelFile(Engine engine, ModelConfig config, OnnxParameters parameters, Path file, List<Path> operators) {
    private static final Logger LOG = LoggerFactory.getLogger(ModelFile.class);

    /** The level of the configuration at which the engine leaves the graph as it is. */
    private static final int UNOPTIMIZED = 2;

    /** A session with so many threads within an operator. Throws {@link GatunException} when the engine refuses. */
    Session open(int threads) {
        // A library may be replaced, and what is made of the graph with it.
        Optional<Path> place = config.getOptimization().getGraph().getLevel() == UNOPTIMIZED || !operators.isEmpty()
                ? Optional.empty()
                : engine.optimized().flatMap(kept -> kept.place(file, graphOptions()));
        if (place.isEmpty()) {
            return openAsItIs(threads);
        }
        OptimizedModels kept = engine.optimized().orElseThrow();
        return Files.exists(place.get())
                ? openOptimized(threads, kept, place.get())
                : openAndKeep(threads, kept, place.get());
    }

    private String graphOptions() {
        return config.getOptimization() + "\n" + parameters.sessionEntries();
    }

    private Session openAsItIs(int threads) {
        try (SessionOptions options = options(threads)) {
            return Session.open(engine, file, options);
        }
    }

    private Session openOptimized(int threads, OptimizedModels kept, Path place) {
        try (SessionOptions options = options(threads)) {
            options.leaveGraph();
            Session session = Session.open(engine, place, options);
            kept.used(place);
            return session;
        } catch (GatunException e) {
            LOG.warn("The optimised graph {} of {} cannot be used: {}", place, file, e.getMessage());
            kept.delete(place);
            return openAndKeep(threads, kept, place);
        }
    }

    private Session openAndKeep(int threads, OptimizedModels kept, Path place) {
        Path draft = kept.draft();
        try (SessionOptions options = options(threads)) {
            options.writeOptimized(draft);
            Session session = Session.open(engine, file, options);
            kept.keep(draft, place);
            return session;
        } catch (GatunException e) {
            // Perhaps only because the disk is full.
            LOG.debug("{} cannot be opened with its optimised graph written", file, e);
            return openAsItIs(threads);
        } finally {
            kept.delete(draft);
        }
    }

    private SessionOptions options(int threads) {
        return SessionOptions.of(engine, config, parameters, operators, threads);
    }
}
