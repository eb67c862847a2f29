// SPDX-License-Identifier: Apache-2.0
package gatun.runtime.configuration;

import gatun.spi.ConfigurationException;
import gatun.spi.ConfigurationPath;
import gatun.spi.ModelFormat;
import gatun.spi.ModelFormat.Trait;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What is said of models whose engines Triton or TensorFlow Serving has, and this server has not. Stateless. */
public final class AbsentEngines {
    /** The file of a TensorFlow Lite model. There is no library of that interpreter for servers to be had. */
    static final String LITE = "model.tflite";

    /** The backend in configurations of TensorFlow Lite models. */
    static final String LITE_BACKEND = "tensorflow";

    /** The formats that Triton knows, of engines that are not here. */
    static final List<ModelFormat> FORMATS = List.of(
            ModelFormat.of("model.graphdef", "tensorflow", 20, Trait.KNOWN_BY_ENDING, Trait.ALONE_BY_ENDING)
                    .platform("tensorflow_graphdef"),
            ModelFormat.of("model.plan", "tensorrt", 30, Trait.KNOWN_BY_ENDING, Trait.ALONE_BY_ENDING)
                    .platform("tensorrt_plan"),
            ModelFormat.of("model.xml", "openvino", 50));

    private static final Map<String, String> INSTEAD = Map.of(
            "openvino",
            "no engine here runs OpenVINO's IR (model.xml with model.bin): serve the ONNX model or the SavedModel that it"
                    + " was made of. For a model.onnx write backend: \"onnxruntime\"");

    private AbsentEngines() {}

    /** What to do with models of an engine that is not here, where it is the same for all of them. */
    public static Optional<String> instead(String backend) {
        return Optional.ofNullable(INSTEAD.get(backend));
    }

    /** The answer to a TensorFlow Lite model. */
    static ConfigurationException refusedLite(String model) {
        return new ConfigurationException(
                ConfigurationPath.MODEL,
                "model '" + model + "' is a TensorFlow Lite model (" + LITE + "), and no engine here runs those",
                "serve the SavedModel that it was made of, or make an ONNX model of it:"
                        + " python -m tf2onnx.convert --tflite " + LITE + " --output model.onnx");
    }
}
