// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import gatun.memory.tensor.Shape;
import gatun.runtime.ModelVersion;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.wire.tensorflow.SignatureDef;
import gatun.wire.tensorflow.TensorInfo;
import gatun.wire.tensorflow.TensorShapeProto;
import gatun.wire.tensorflow.serving.SignatureDefMap;

/** A model's signatures as SignatureDef messages. */
public final class SignatureDefs {
    /** The method of a signature that only gives its outputs; that of models whose format has no methods. */
    private static final String PREDICT_METHOD = "tensorflow/serving/predict";

    private SignatureDefs() {}

    /** Every signature of a model by its name: as its files describe it, where their format has signatures. */
    public static SignatureDefMap of(ModelVersion model) {
        SignatureDefMap.Builder signatures = SignatureDefMap.newBuilder();
        ExampleMappings.signatures(model)
                .forEach(signature -> signatures.putSignatureDef(signature.name(), of(signature)));
        return signatures.putAllSignatureDef(model.signatures()).build();
    }

    static SignatureDef of(EntryPoint entryPoint) {
        SignatureDef.Builder signature = SignatureDef.newBuilder().setMethodName(method(entryPoint));
        entryPoint.inputs().forEach(input -> signature.putInputs(input.spec().name(), info(input)));
        entryPoint
                .outputs()
                .forEach(output -> signature.putOutputs(output.spec().name(), info(output)));
        return signature.build();
    }

    /** The method of one entry point. */
    public static String method(EntryPoint entryPoint) {
        return entryPoint.method().isEmpty() ? PREDICT_METHOD : entryPoint.method();
    }

    private static TensorInfo info(EntryTensor tensor) {
        TensorShapeProto.Builder dims = TensorShapeProto.newBuilder();
        if (tensor.anyShape()) {
            dims.setUnknownRank(true);
        } else {
            Shape shape = tensor.spec().shape();
            for (int i = 0; i < shape.rank(); i++) {
                dims.addDimBuilder().setSize(shape.dim(i));
            }
        }
        return TensorInfo.newBuilder()
                .setName(tensor.engineName())
                .setDtype(DataTypes.of(tensor.spec().datatype()))
                .setTensorShape(dims)
                .build();
    }
}
