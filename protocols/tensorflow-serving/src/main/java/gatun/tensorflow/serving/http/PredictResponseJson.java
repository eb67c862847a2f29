// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.runtime.OutputTensor;
import java.util.List;

/** Writes the outputs of a predict request, as its inputs came: in rows or in columns. */
final class PredictResponseJson {
    private PredictResponseJson() {}

    /**
     * Writes {@code outputs}, each by its name if there are several.
     *
     * @param rows whether they are to be written in rows
     * @throws GatunException INVALID_ARGUMENT when they have no form in JSON
     */
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
}
