// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import gatun.memory.tensor.Datatype;
import gatun.spi.Backend;
import gatun.spi.Datatypes;
import gatun.spi.ModelFormat;
import java.io.IOException;
import java.io.InputStream;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/** The models of the private server, which echo or add their inputs at once. */
final class PrivateModels {
    /** Two tensors INPUT0 and INPUT1 of 16 32-bit integers. */
    static final String INTEGERS = "integers";
    /** The same, computed by an engine. */
    static final String COMPUTED_INTEGERS = "computed_integers";
    /** The same with texts for integers. */
    static final String TEXTS = "texts";
    /** The same by an engine. */
    static final String COMPUTED_TEXTS = "computed_texts";
    /** One tensor INPUT0 of any number of 32-bit floating point numbers. */
    static final String FLOATS = "floats";

    private static final int ELEMENTS = 16;

    private PrivateModels() {}

    static void write(Path repository, Optional<Backend> engine) throws IOException {
        write(repository, INTEGERS, "identity", "TYPE_INT32", ELEMENTS, List.of("0", "1"));
        write(repository, TEXTS, "identity", "TYPE_STRING", ELEMENTS, List.of("0", "1"));
        write(repository, FLOATS, "identity", "TYPE_FP32", -1, List.of("0"));
        if (engine.isPresent()) {
            write(repository, COMPUTED_INTEGERS, engine.get(), Datatype.INT32);
            write(repository, COMPUTED_TEXTS, engine.get(), Datatype.BYTES);
        }
    }

    private static void write(
            Path repository, String name, String backend, String datatype, int elements, List<String> tensors)
            throws IOException {
        List<String> inputs = new ArrayList<>();
        List<String> outputs = new ArrayList<>();
        for (String tensor : tensors) {
            String rest = tensor + "\" data_type: " + datatype + " dims: [ " + elements + " ] }";
            inputs.add("{ name: \"INPUT" + rest);
            outputs.add("{ name: \"OUTPUT" + rest);
        }
        Path folder = Files.createDirectories(repository.resolve(name));
        Files.createDirectory(folder.resolve("1"));
        Files.writeString(
                folder.resolve("config.pbtxt"),
                "backend: \"" + backend + "\"\nmax_batch_size: 8\ninput " + inputs + "\noutput " + outputs
                        + "\ninstance_group [ { kind: KIND_CPU count: 1 } ]\n");
    }

    private static void write(Path repository, String name, Backend engine, Datatype datatype) throws IOException {
        ModelFormat format = engine.formats().getFirst();
        String type = Datatypes.configured(datatype).name();
        write(repository, name, format.backend(), type, ELEMENTS, List.of("0", "1"));
        URL model = Objects.requireNonNull(engine.warmUpModels().get(datatype));
        try (InputStream in = model.openStream()) {
            Files.copy(in, repository.resolve(name).resolve("1").resolve(format.fileName()));
        }
    }
}
