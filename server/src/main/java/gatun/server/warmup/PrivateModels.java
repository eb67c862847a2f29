// SPDX-License-Identifier: Apache-2.0
package gatun.server.warmup;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The models of the private server: they give back or add up what they get, and take no time for it. */
final class PrivateModels {
    /** Two tensors INPUT0 and INPUT1 of 16 32-bit integers. */
    static final String INTEGERS = "integers";
    /** The same by ONNX Runtime, which adds and subtracts them. */
    static final String ONNX_INTEGERS = "onnx_integers";
    /** The same with texts for integers. */
    static final String TEXTS = "texts";
    /** The same by ONNX Runtime. */
    static final String ONNX_TEXTS = "onnx_texts";
    /** One tensor INPUT0 of any number of 32-bit floating point numbers. */
    static final String FLOATS = "floats";

    private static final int ELEMENTS = 16;

    private PrivateModels() {}

    /** Writes the models into {@code repository}. {@code onnx} says whether ONNX Runtime's are among them. */
    static void write(Path repository, boolean onnx) throws IOException {
        write(repository, INTEGERS, "identity", "TYPE_INT32", ELEMENTS, List.of("0", "1"));
        write(repository, TEXTS, "identity", "TYPE_STRING", ELEMENTS, List.of("0", "1"));
        write(repository, FLOATS, "identity", "TYPE_FP32", -1, List.of("0"));
        if (onnx) {
            write(repository, ONNX_INTEGERS, "onnxruntime", "TYPE_INT32", ELEMENTS, List.of("0", "1"));
            copy("simple/1/model.onnx", repository.resolve(ONNX_INTEGERS));
            write(repository, ONNX_TEXTS, "onnxruntime", "TYPE_STRING", ELEMENTS, List.of("0", "1"));
            copy("simple_string/1/model.onnx", repository.resolve(ONNX_TEXTS));
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

    private static void copy(String resource, Path model) throws IOException {
        try (InputStream in = PrivateModels.class.getResourceAsStream("models/" + resource)) {
            if (in == null) {
                throw new IOException("the program's jar lacks " + resource);
            }
            Files.copy(in, model.resolve("1").resolve("model.onnx"));
        }
    }
}
