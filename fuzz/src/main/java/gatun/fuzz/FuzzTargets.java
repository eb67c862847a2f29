// SPDX-License-Identifier: Apache-2.0
package gatun.fuzz;

import gatun.grpc.connection.ConnectionFuzz;
import gatun.grpc.headers.HeaderBlockFuzz;
import gatun.grpc.message.LoadedFilesFuzz;
import gatun.http.connection.ChunksFuzz;
import gatun.http.connection.HttpHeadFuzz;
import gatun.http.json.JsonDocumentFuzz;
import gatun.http.json.TensorDataFuzz;
import gatun.memory.tensor.BytesTensorFuzz;
import gatun.runtime.configuration.ConfigurationFuzz;
import gatun.runtime.configuration.ConfigurationTextFuzz;
import gatun.tensorflow.serving.FeatureTensorsFuzz;
import gatun.tensorflow.serving.grpc.ExampleMessageFuzz;
import gatun.tensorflow.serving.grpc.PredictMessageFuzz;
import gatun.tensorflow.serving.grpc.TensorFuzz;
import gatun.tensorflow.serving.http.Base64Fuzz;
import gatun.tensorflow.serving.http.PredictRowsFuzz;
import gatun.v1.grpc.V1MessageFuzz;
import gatun.v1.http.V1HeaderFuzz;
import gatun.v2.grpc.InferMessageFuzz;
import java.util.Arrays;
import java.util.List;

/**
 * The fuzz targets: one for each parser that sees a client's bytes. A target is a class with a method
 * {@code fuzzerTestOneInput(byte[])} that throws when something is wrong; Jazzer calls it, and so does the test of the
 * corpus.
 */
public final class FuzzTargets {
    /** All targets. */
    public static final List<Class<?>> ALL = List.of(
            HttpHeadFuzz.class,
            ChunksFuzz.class,
            JsonDocumentFuzz.class,
            TensorDataFuzz.class,
            Base64Fuzz.class,
            PredictRowsFuzz.class,
            V1HeaderFuzz.class,
            ConnectionFuzz.class,
            HeaderBlockFuzz.class,
            InferMessageFuzz.class,
            PredictMessageFuzz.class,
            TensorFuzz.class,
            ExampleMessageFuzz.class,
            FeatureTensorsFuzz.class,
            LoadedFilesFuzz.class,
            V1MessageFuzz.class,
            BytesTensorFuzz.class,
            ConfigurationFuzz.class,
            ConfigurationTextFuzz.class);

    private FuzzTargets() {}

    /** Prints the names of the targets, or of those whose names contain one of {@code args}, one in each line. */
    public static void main(String[] args) {
        for (Class<?> target : ALL) {
            if (args.length == 0 || Arrays.stream(args).anyMatch(target.getSimpleName()::contains)) {
                System.out.println(target.getName());
            }
        }
    }
}
