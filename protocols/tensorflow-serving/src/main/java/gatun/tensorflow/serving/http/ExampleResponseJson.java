// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.ElementLayouts;
import gatun.runtime.OutputTensor;
import gatun.tensorflow.serving.ExampleMethod;
import gatun.tensorflow.serving.ExampleSignature;
import gatun.tensorflow.serving.ScoredClasses;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Writes the results for examples. */
final class ExampleResponseJson {
    private static final String RESULTS = "results";

    private ExampleResponseJson() {}

    /**
     * Writes the whole response.
     *
     * @param examples how many examples were given
     * @throws gatun.memory.tensor.GatunException INVALID_ARGUMENT when the outputs are not as they should be
     */
    static void write(
            IndentedJson json,
            ExampleMethod method,
            ExampleSignature signature,
            List<OutputTensor> outputs,
            long examples) {
        switch (method) {
            case CLASSIFY -> writeClasses(json, signature.classes(outputs, examples), examples);
            case REGRESS -> writeValues(json, signature.values(outputs, examples), examples);
        }
    }

    private static void writeClasses(IndentedJson json, ScoredClasses classes, long examples) {
        MemorySegment labels = classes.labels();
        json.beginObject().name(RESULTS).beginArray().oneLineArrays(true);
        for (long i = 0; i < examples; i++) {
            json.beginArray();
            for (long k = 0; k < classes.classCount(); k++) {
                long label = classes.nextLabel();
                json.beginArray()
                        .string(labels, label + BytesCodec.LENGTH_BYTES, BytesCodec.elementByteSize(labels, label));
                json.fp32(classes.nextScore()).endArray();
            }
            json.endArray();
        }
        json.oneLineArrays(false).endArray().endObject();
    }

    private static void writeValues(IndentedJson json, MemorySegment values, long examples) {
        json.beginObject().name(RESULTS).oneLineArrays(true).beginArray();
        for (long at = 0; at < examples * Float.BYTES; at += Float.BYTES) {
            json.fp32(values.get(ElementLayouts.FP32, at));
        }
        json.endArray().endObject();
    }
}
