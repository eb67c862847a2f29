// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import gatun.http.json.Base64Text;
import gatun.memory.tensor.BytesCodec;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ElementLayouts;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.tensorflow.serving.DataTypes;
import java.lang.foreign.MemorySegment;
import java.util.List;

/** Writes the outputs of a predict request, as its inputs came: in rows or in columns. */
final class PredictResponseJson {
    private PredictResponseJson() {}

    /** Writes {@code outputs}, by name if several. Throws INVALID_ARGUMENT when they have no form in JSON. */
    static void write(IndentedJson json, List<OutputTensor> outputs, boolean rows) {
        if (outputs.isEmpty()) {
            throw GatunException.invalidArgument("Cannot convert empty tensor map to JSON");
        }
        TensorPrinter[] printers = new TensorPrinter[outputs.size()];
        for (int i = 0; i < printers.length; i++) {
            printers[i] = new TensorPrinter(json, outputs.get(i).tensor());
        }
        if (rows) {
            writeRows(json, printers);
        } else {
            writeColumns(json, printers);
        }
    }

    private static void writeRows(IndentedJson json, TensorPrinter[] printers) {
        long count = rowCount(printers);
        json.beginObject().name("predictions").beginArray();
        boolean named = printers.length > 1;
        for (long row = 0; row < count; row++) {
            if (named) {
                json.beginObject();
            }
            json.oneLineArrays(true);
            for (TensorPrinter printer : printers) {
                if (named) {
                    json.name(printer.tensor().spec().name());
                }
                printer.writeNextRow();
            }
            json.oneLineArrays(false);
            if (named) {
                json.endObject();
            }
        }
        json.endArray().endObject();
    }

    private static long rowCount(TensorPrinter[] printers) {
        long count = -1;
        for (TensorPrinter printer : printers) {
            Tensor tensor = printer.tensor();
            Shape shape = tensor.spec().shape();
            if (shape.rank() == 0) {
                throw GatunException.invalidArgument(
                        "Tensor name: " + tensor.spec().name() + " has no shape information ");
            }
            if (count >= 0 && shape.dim(0) != count) {
                throw GatunException.invalidArgument("Tensor name: "
                        + tensor.spec().name() + " has inconsistent batch size: " + shape.dim(0) + " expecting: "
                        + count);
            }
            count = shape.dim(0);
        }
        return count;
    }

    private static void writeColumns(IndentedJson json, TensorPrinter[] printers) {
        json.beginObject().name("outputs");
        boolean named = printers.length > 1;
        if (named) {
            json.beginObject();
        }
        for (TensorPrinter printer : printers) {
            if (named) {
                json.name(printer.tensor().spec().name());
            }
            printer.writeAll();
        }
        if (named) {
            json.endObject();
        }
        json.endObject();
    }

    /** Writes the elements of one output, from front to back. For one thread. */
    static final class TensorPrinter {
        /** Strings of tensors whose name ends so may be any bytes. */
        private static final String BYTES_SUFFIX = "_bytes";

        private final IndentedJson json;
        private final Tensor tensor;
        private final Shape shape;
        private final MemorySegment bytes;
        private final boolean base64;
        private long offset;

        /** Throws INVALID_ARGUMENT, before anything is written, when the tensor's elements have no form in JSON. */
        TensorPrinter(IndentedJson json, Tensor tensor) {
            this.json = json;
            this.tensor = tensor;
            this.shape = tensor.spec().shape();
            this.bytes = tensor.bytes();
            this.base64 = tensor.spec().name().endsWith(BYTES_SUFFIX);
            if (shape.elementCount() > 0) {
                requireForm(tensor.spec().datatype());
            }
        }

        private static void requireForm(Datatype datatype) {
            switch (datatype) {
                default ->
                    throw GatunException.invalidArgument(
                            "Failed to write JSON value for tensor type: " + DataTypes.shortName(datatype));
                case BOOL, INT8, UINT8, INT16, INT32, UINT32, INT64, UINT64, FP32, FP64, BYTES -> {}
            }
        }

        Tensor tensor() {
            return tensor;
        }

        void writeAll() {
            write(0);
        }

        /** Writes the next of the first dimension's parts. */
        void writeNextRow() {
            write(1);
        }

        private void write(int dim) {
            if (dim >= shape.rank()) {
                writeElement();
                return;
            }
            json.beginArray();
            for (long i = shape.dim(dim); i > 0; i--) {
                write(dim + 1);
            }
            json.endArray();
        }

        private void writeElement() {
            Datatype datatype = tensor.spec().datatype();
            switch (datatype) {
                case BOOL -> json.bool(bytes.get(JAVA_BYTE, offset) != 0);
                case INT8 -> json.signed(bytes.get(JAVA_BYTE, offset));
                case UINT8 -> json.unsigned(Byte.toUnsignedLong(bytes.get(JAVA_BYTE, offset)));
                case INT16 -> json.signed(bytes.get(ElementLayouts.INT16, offset));
                case INT32 -> json.signed(bytes.get(ElementLayouts.INT32, offset));
                case UINT32 -> json.unsigned(Integer.toUnsignedLong(bytes.get(ElementLayouts.INT32, offset)));
                case INT64 -> json.signed(bytes.get(ElementLayouts.INT64, offset));
                case UINT64 -> json.unsigned(bytes.get(ElementLayouts.INT64, offset));
                case FP32 -> json.fp32(bytes.get(ElementLayouts.FP32, offset));
                case FP64 -> json.fp64(bytes.get(ElementLayouts.FP64, offset));
                case BYTES -> writeString();
                default -> throw new AssertionError("refused before: " + datatype);
            }
            offset += datatype.byteSize();
        }

        private void writeString() {
            long byteSize = BytesCodec.elementByteSize(bytes, offset);
            offset += BytesCodec.LENGTH_BYTES;
            if (base64) {
                json.beginObject().name("b64");
                json.raw().raw('"');
                Base64Text.encode(json.text(), bytes, offset, byteSize);
                json.text().raw('"');
                json.endObject();
            } else {
                json.string(bytes, offset, byteSize);
            }
            offset += byteSize;
        }
    }
}
