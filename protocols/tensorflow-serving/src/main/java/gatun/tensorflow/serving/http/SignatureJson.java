// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.memory.tensor.Shape;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.tensorflow.serving.DataTypes;
import gatun.tensorflow.serving.SignatureDefs;
import java.util.Collection;
import java.util.List;

/** Signatures as metadata shows them. */
final class SignatureJson {
    private SignatureJson() {}

    /** Writes several, by their names. */
    static void write(IndentedJson json, Collection<EntryPoint> signatures) {
        json.beginObject().name("signature_def").beginObject();
        for (EntryPoint signature : signatures) {
            json.name(signature.name());
            write(json, signature);
        }
        json.endObject().endObject();
    }

    private static void write(IndentedJson json, EntryPoint signature) {
        json.beginObject().name("inputs");
        writeTensors(json, signature.inputs());
        json.name("outputs");
        writeTensors(json, signature.outputs());
        json.name("method_name").string(SignatureDefs.method(signature));
        json.name("defaults").beginObject().endObject();
        json.endObject();
    }

    private static void writeTensors(IndentedJson json, List<EntryTensor> tensors) {
        json.beginObject();
        for (EntryTensor tensor : tensors) {
            json.name(tensor.spec().name()).beginObject();
            json.name("dtype").string(DataTypes.of(tensor.spec().datatype()).name());
            json.name("tensor_shape").beginObject().name("dim").beginArray();
            Shape shape = tensor.spec().shape();
            for (int i = 0; i < shape.rank() && !tensor.anyShape(); i++) {
                json.beginObject().name("size").string(Long.toString(shape.dim(i)));
                json.name("name").string("").endObject();
            }
            json.endArray().name("unknown_rank").bool(tensor.anyShape()).endObject();
            json.name("name").string(tensor.engineName()).endObject();
        }
        json.endObject();
    }
}
