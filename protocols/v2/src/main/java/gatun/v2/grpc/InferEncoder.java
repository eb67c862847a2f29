// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.grpc.frames.OutboundMessage;
import gatun.grpc.message.WireReader;
import gatun.grpc.message.WireWriter;
import gatun.grpc.message.WireWriter.TensorMessage;
import gatun.grpc.message.WireWriter.Utf8;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.runtime.InferenceResponse;
import gatun.runtime.InferenceResponse.OutputTensor;
import gatun.spi.ParameterValue;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Map;

/** Writes ModelInferResponse messages: names and shapes on the heap, tensors from where they lie. */
public final class InferEncoder {
    /** Parameter of every response of a stream that comes from an execution. */
    private static final String FINAL_RESPONSE = "triton_final_response";

    // Field numbers of ModelInferResponse.
    private static final int MODEL_NAME = 1;
    private static final int MODEL_VERSION = 2;
    private static final int ID = 3;
    private static final int PARAMETERS = 4;
    private static final int OUTPUTS = 5;
    private static final int RAW_OUTPUT_CONTENTS = 6;

    // Field numbers of ModelStreamInferResponse.
    private static final int ERROR_MESSAGE = 1;
    private static final int INFER_RESPONSE = 2;

    private InferEncoder() {}

    /** A unary call's response as a message, which owns it. Throws INVALID_ARGUMENT if too large, closing it. */
    public static OutboundMessage encode(InferenceResponse response) {
        return assemble(response, false, true);
    }

    /** A response on a stream, {@code last} if it is the only one or the last. Otherwise as {@link #encode}. */
    static OutboundMessage encodeStreamed(InferenceResponse response, boolean last) {
        return assemble(response, true, last);
    }

    /** Says that a decoupled model is done with a request of a stream, without one more response. */
    static OutboundMessage encodeEmptyFinal(String modelName, String modelVersion, String id) {
        WireWriter inner = new WireWriter();
        inner.text(MODEL_NAME, modelName);
        inner.text(MODEL_VERSION, modelVersion);
        inner.text(ID, id);
        writeParameter(inner, FINAL_RESPONSE, new ParameterValue.Bool(true));
        WireWriter message = new WireWriter();
        message.header(INFER_RESPONSE, inner.size());
        message.raw(inner);
        return OutboundMessage.of(message.toByteArray());
    }

    /** The message for a failed request of a stream; tells the model's version if it was accepted: {@code executed}. */
    static OutboundMessage encodeError(String text, InferMessage request, boolean executed) {
        WireWriter inner = new WireWriter();
        if (executed) {
            inner.text(MODEL_NAME, request.modelName());
            inner.text(MODEL_VERSION, request.modelVersion());
        }
        inner.text(ID, request.id());
        if (executed) {
            writeParameter(inner, FINAL_RESPONSE, new ParameterValue.Bool(true));
        }
        return error(text, inner);
    }

    /** A failure in the place of a response, after which others may follow. */
    static OutboundMessage encodeErrorAmongOthers(String text, InferMessage request) {
        WireWriter inner = new WireWriter();
        inner.text(MODEL_NAME, request.modelName());
        inner.text(MODEL_VERSION, request.modelVersion());
        inner.text(ID, request.id());
        writeParameter(inner, FINAL_RESPONSE, new ParameterValue.Bool(false));
        return error(text, inner);
    }

    private static OutboundMessage error(String text, WireWriter inner) {
        WireWriter message = new WireWriter();
        message.text(ERROR_MESSAGE, text);
        message.header(INFER_RESPONSE, inner.size());
        message.raw(inner);
        return OutboundMessage.of(message.toByteArray());
    }

    private static void writeHead(WireWriter out, InferenceResponse response, boolean streamed, boolean last) {
        out.text(MODEL_NAME, response.modelName());
        out.text(MODEL_VERSION, response.modelVersion());
        out.text(ID, response.id());
        for (Map.Entry<String, ParameterValue> parameter : response.parameters().entrySet()) {
            writeParameter(out, parameter.getKey(), parameter.getValue());
        }
        if (streamed) {
            writeParameter(out, FINAL_RESPONSE, new ParameterValue.Bool(last));
        }
        List<OutputTensor> outputs = response.outputs();
        for (int i = 0; i < outputs.size(); i++) {
            writeOutput(out, outputs.get(i).tensor().spec());
        }
    }

    private static void writeOutput(WireWriter out, TensorSpec spec) {
        Shape shape = spec.shape();
        int dimsSize = 0;
        for (int i = 0; i < shape.rank(); i++) {
            dimsSize += WireWriter.varintSize(shape.dim(i));
        }
        String datatype = spec.datatype().wireName();
        int shapeSize = dimsSize == 0 ? 0 : 1 + WireWriter.varintSize(dimsSize) + dimsSize;
        out.header(OUTPUTS, WireWriter.textSize(spec.name()) + WireWriter.textSize(datatype) + shapeSize);
        out.text(1, spec.name());
        out.text(2, datatype);
        if (dimsSize > 0) {
            out.header(3, dimsSize);
            for (int i = 0; i < shape.rank(); i++) {
                out.varint(shape.dim(i));
            }
        }
    }

    private static void writeParameter(WireWriter out, String name, ParameterValue value) {
        WireWriter choice = new WireWriter();
        switch (value) {
            case ParameterValue.Bool bool -> {
                choice.varint(1 << 3 | WireReader.VARINT);
                choice.varint(bool.value() ? 1 : 0);
            }
            case ParameterValue.Int64 number -> {
                choice.varint(2 << 3 | WireReader.VARINT);
                choice.varint(number.value());
            }
            case ParameterValue.Text text -> {
                choice.header(3, Utf8.length(text.value()));
                choice.raw(text.value());
            }
            case ParameterValue.Fp64 number -> {
                choice.varint(4 << 3 | WireReader.FIXED64);
                choice.fixed64(Double.doubleToRawLongBits(number.value()));
            }
            case ParameterValue.Uint64 number -> {
                choice.varint(5 << 3 | WireReader.VARINT);
                choice.varint(number.value());
            }
        }
        out.header(PARAMETERS, WireWriter.textSize(name) + 1 + WireWriter.varintSize(choice.size()) + choice.size());
        out.text(1, name);
        out.header(2, choice.size());
        out.raw(choice);
    }

    private static OutboundMessage assemble(InferenceResponse response, boolean streamed, boolean last) {
        try {
            WireWriter head = new WireWriter();
            writeHead(head, response, streamed, last);
            response.releaseRegions();
            List<OutputTensor> outputs = response.outputs();
            MemorySegment[] tensors = new MemorySegment[outputs.size()];
            for (int i = 0; i < tensors.length; i++) {
                OutputTensor output = outputs.get(i);
                tensors[i] = output.inSharedMemory()
                        ? MemorySegment.NULL
                        : output.tensor().bytes();
            }
            int outer = streamed ? INFER_RESPONSE : TensorMessage.NOT_NESTED;
            return TensorMessage.of(outer, head, RAW_OUTPUT_CONTENTS, tensors, response);
        } catch (Throwable t) {
            response.close();
            throw t;
        }
    }
}
