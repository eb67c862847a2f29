// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime;

import gatun.memory.tensor.Datatype;
import gatun.testing.OnnxFile;

/** Makes tensors of ONNX files by Gatun's datatypes. */
final class OnnxValues {
    private OnnxValues() {}

    /** A tensor of a graph, with dimensions as {@link OnnxFile.Value} has them. */
    static OnnxFile.Value of(String name, Datatype datatype, String... dims) {
        return new OnnxFile.Value(name, ElementTypes.elementType(datatype), dims);
    }
}
