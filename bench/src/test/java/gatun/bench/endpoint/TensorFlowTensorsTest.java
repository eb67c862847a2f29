// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.bench.endpoint.TensorFlowGrpc.TensorFlowProtos;
import gatun.bench.endpoint.TensorFlowRest.TensorFlowJson;
import gatun.bench.endpoint.TensorFlowTarget.TensorFlowDatatypes;
import gatun.client.ArrayTensors;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.wire.tensorflow.DataType;
import gatun.wire.tensorflow.TensorProto;
import gatun.wire.tensorflow.TensorShapeProto;
import java.util.List;
import org.junit.jupiter.api.Test;

class TensorFlowTensorsTest {
    @Test
    void shouldKeepTensorsThroughMessages() {
        Tensor numbers = ArrayTensors.of("IN", new float[] {1, 2, 3, 4}, 2, 2);
        Tensor back = TensorFlowProtos.tensor("IN", TensorFlowProtos.message(numbers));
        assertThat(back.spec()).isEqualTo(numbers.spec());
        assertThat(ArrayTensors.floats(back)).containsExactly(1, 2, 3, 4);
        Tensor texts = ArrayTensors.of("IN", new String[] {"ä", ""});
        TensorProto message = TensorFlowProtos.message(texts);
        assertThat(ArrayTensors.strings(TensorFlowProtos.tensor("IN", message))).containsExactly("ä", "");
        assertThat(TensorFlowProtos.byteSize(message)).isEqualTo(10);
    }

    @Test
    void shouldReadTypedValues() {
        TensorProto.Builder message = TensorProto.newBuilder()
                .setTensorShape(TensorShapeProto.newBuilder()
                        .addDim(TensorShapeProto.Dim.newBuilder().setSize(2)));
        assertThat(ArrayTensors.ints(TensorFlowProtos.tensor(
                        "X",
                        message.clone()
                                .setDtype(DataType.DT_INT32)
                                .addIntVal(7)
                                .addIntVal(8)
                                .build())))
                .containsExactly(7, 8);
        // One value stands for all.
        assertThat(ArrayTensors.doubles(TensorFlowProtos.tensor(
                        "X",
                        message.clone()
                                .setDtype(DataType.DT_DOUBLE)
                                .addDoubleVal(2.5)
                                .build())))
                .containsExactly(2.5, 2.5);
        assertThat(ArrayTensors.booleans(TensorFlowProtos.tensor(
                        "X",
                        message.clone()
                                .setDtype(DataType.DT_BOOL)
                                .addBoolVal(true)
                                .addBoolVal(false)
                                .build())))
                .containsExactly(true, false);
        assertThat(ArrayTensors.bytes(TensorFlowProtos.tensor(
                        "X",
                        message.clone()
                                .setDtype(DataType.DT_UINT8)
                                .addIntVal(200)
                                .addIntVal(1)
                                .build())))
                .containsExactly((byte) 200, 1);
    }

    @Test
    void shouldKnowEveryDatatypeThatItCanSendByItsName() {
        for (Datatype datatype : Datatype.values()) {
            DataType theirs = TensorFlowDatatypes.of(datatype);
            assertThat(TensorFlowDatatypes.of(theirs.name()))
                    .isEqualTo(theirs == DataType.DT_INVALID ? Datatype.INVALID : datatype);
        }
        assertThat(TensorFlowDatatypes.of("DT_VARIANT")).isEqualTo(Datatype.INVALID);
    }

    @Test
    void shouldWriteInputsByColumns() {
        String json = TensorFlowJson.request(
                "serving_default",
                List.of(
                        ArrayTensors.of("A", new float[] {1, 2.5f, Float.NaN, 4}, 2, 2),
                        ArrayTensors.of("B", new boolean[] {true}),
                        ArrayTensors.of("S", new String[] {"hi"}, 1, 1)));
        assertThat(json)
                .isEqualTo(
                        "{\"signature_name\":\"serving_default\",\"inputs\":{\"A\":[[1.0,2.5],[NaN,4.0]],\"B\":[true],"
                                + "\"S\":[[{\"b64\":\"aGk=\"}]]}}");
    }

    @Test
    void shouldSayWhichDatatypesJsonCannotCarry() {
        Tensor half = ArrayTensors.of("H", Datatype.FP16, new byte[2], 1);
        assertThatThrownBy(() -> TensorFlowJson.request("s", List.of(half)))
                .hasMessage("input 'H' is of FP16, which TensorFlow Serving's JSON has no form for: use grpc://");
        assertThat(half.spec().shape()).isEqualTo(Shape.of(1));
    }
}
