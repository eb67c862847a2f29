// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.backend.onnxruntime.graph.Graph.OperatorKey;
import gatun.backend.onnxruntime.graph.Operator.Result;
import gatun.backend.onnxruntime.graph.Operator.Role;
import gatun.backend.onnxruntime.graph.Operator.Use;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The operators whose kernels in ONNX Runtime 1.29 were looked at. One that is not here may do anything.
 *
 * <p>A line is an operator and its inputs in order, as far as any version of it has them. {@code !} marks an input whose
 * values decide an address, a size, a count, an order or a branch, so that a kernel which checks them may not find them
 * as they were; {@code %} one that integers are divided by or that is divided, which ends the process for some values
 * that a kernel refuses when it sees them; {@code ^} one that may be looked up in a table;
 * {@code *} one that may come any number of times.
 */
final class Operators {
    private static final String ONNX = "";
    private static final String MICROSOFT = "com.microsoft";
    private static final Map<OperatorKey, Operator> KNOWN = new HashMap<>();

    static {
        add(ONNX, Result.COMPUTED, """
                Acos input
                Acosh input
                ArgMax data
                ArgMin data
                Asin input
                Asinh input
                Atan input
                Atanh input
                AveragePool X
                BatchNormalization X scale B mean var
                Conv X W B
                ConvInteger x w x_zero_point! w_zero_point!
                ConvTranspose X W B
                Cos input
                Cosh input
                DFT input dft_length! axis!
                DeformConv X W offset! B mask
                DynamicQuantizeLinear x
                Erf input
                Exp input
                EyeLike input
                Gelu X
                Gemm A B C
                GlobalAveragePool X
                GlobalLpPool X
                GlobalMaxPool X
                GroupNormalization X scale bias
                GRU X W R B sequence_lens! initial_h
                HardSigmoid X
                HardSwish X
                Hardmax input
                InstanceNormalization input scale B
                LayerNormalization X Scale B
                Log input
                LogSoftmax input
                LpNormalization input
                LpPool X
                LRN X
                LSTM X W R B sequence_lens! initial_h initial_c P
                MatMul A B
                MatMulInteger A B a_zero_point! b_zero_point!
                MaxPool X
                MaxRoiPool X rois!
                MeanVarianceNormalization X
                Mish X
                QLinearConv x x_scale! x_zero_point! w w_scale! w_zero_point! y_scale! y_zero_point! B
                QLinearMatMul a a_scale! a_zero_point! b b_scale! b_zero_point! y_scale! y_zero_point!
                RandomNormalLike input
                RandomUniformLike input
                Reciprocal X
                RMSNormalization X scale
                RNN X W R B sequence_lens! initial_h
                RoiAlign X rois! batch_indices!
                Shape data
                Sigmoid X
                SimplifiedLayerNormalization X scale
                Sin input
                Sinh input
                Size data
                Softmax input
                Softplus X
                Softsign input
                Sqrt X
                STFT signal frame_step! window frame_length!
                Tan input
                Tanh input
                """);
        add(ONNX, Result.ARITHMETIC, """
                Abs X
                Add A B
                And A B
                BitShift X Y
                BitwiseAnd A B
                BitwiseNot X
                BitwiseOr A B
                BitwiseXor A B
                Ceil X
                Celu X
                Clip input min max
                CumSum x axis!
                Div A% B%
                Elu X
                Equal A B
                Floor X
                Greater A B
                GreaterOrEqual A B
                IsInf X
                IsNaN X
                LeakyRelu X
                Less A B
                LessOrEqual A B
                Max data*
                Mean data*
                Min data*
                Mod A% B%
                Mul A B
                Neg X
                Not X
                Or A B
                Pow X Y
                PRelu X slope
                Relu X
                Round X
                Selu X
                Shrink input
                Sign input
                Sub A B
                Sum data*
                Swish X
                ThresholdedRelu X
                Trilu input k!
                Xor A B
                """);
        add(ONNX, Result.FORWARDED, """
                Cast input
                CastLike input target_type
                Col2Im input image_shape! block_shape!
                Concat inputs*
                DepthToSpace input
                DequantizeLinear x^ x_scale! x_zero_point!
                Dropout data ratio! training_mode!
                Einsum Inputs*
                Expand input shape!
                Flatten input
                Gather data indices!
                GatherElements data indices!
                GatherND data indices!
                GridSample X grid!
                Identity input
                Pad data pads! constant_value! axes!
                QuantizeLinear x y_scale! y_zero_point!
                ReduceL1 data axes!
                ReduceL2 data axes!
                ReduceLogSum data axes!
                ReduceLogSumExp data axes!
                ReduceMax data axes!
                ReduceMean data axes!
                ReduceMin data axes!
                ReduceProd data axes!
                ReduceSum data axes!
                ReduceSumSquare data axes!
                Reshape data shape!
                Resize X roi! scales! sizes!
                ReverseSequence input sequence_lens!
                Scatter data indices! updates
                ScatterElements data indices! updates
                ScatterND data indices! updates
                Slice data starts! ends! axes! steps!
                SpaceToDepth input
                Split input split!
                Squeeze data axes!
                Tile input repeats! axis!
                Transpose data
                Unsqueeze data axes!
                Upsample X scales!
                Where condition! X Y
                """);
        // Known only for what the reasons say of them.
        add(ONNX, Result.UNKNOWN, """
                Bernoulli probabilities!
                Compress data! conditions!
                ConstantOfShape shape!
                If condition!
                Loop trip_count! condition! values*
                MaxUnpool data! indices! shape!
                Multinomial probabilities!
                NonMaxSuppression boxes! scores! counts! thresholds! thresholds!
                NonZero values_to_count!
                OneHot indices! depth! values!
                Range bounds!*
                Scan values*
                TopK values_to_sort! count!
                Unique values_to_sort!
                """);
        add(MICROSOFT, Result.COMPUTED, """
                Attention input weights bias mask_index! past attention_bias past_sequence_length!
                BiasAdd X bias skip
                BiasGelu A B
                BiasSoftmax data bias
                BiasSplitGelu X bias
                CDist A B
                ConvTransposeWithDynamicPads X W Pads! B
                DynamicQuantizeLSTM X W R B sequence_lens! initial_h initial_c P scales!*
                DynamicQuantizeMatMul A B b_scale! b_zero_point! bias
                EmbedLayerNormalization input_ids! segment_ids! embedding embedding embedding gamma beta mask! position_ids!
                FastGelu X bias
                FusedConv X W B Z
                FusedGemm A B C
                FusedMatMul A B
                FusedMatMulActivation A B
                Gelu X
                GroupNorm X gamma beta
                GroupQueryAttention query key value past_key past_value seqlens_k! lengths!*
                Irfft X
                MatMulBnb4 A B! absmax!
                MatMulInteger16 A B
                MatMulIntegerToFloat A B a_scale! b_scale! a_zero_point! b_zero_point! bias
                MatMulNBits A B! scales! zero_points! g_idx! bias!
                MultiHeadAttention query key value bias key_padding_mask! attention_bias past_key past_value lengths!*
                NhwcFusedConv X W B Z
                NhwcMaxPool x
                PackedAttention input weights bias token_offset!*
                QAttention input weight bias input_scale! weight_scale! mask_index! zero_points!*
                QGemm A a_scale! a_zero_point! B b_scale! b_zero_point! C y_scale!*
                QLinearAdd A A_scale! A_zero_point! B B_scale!*
                QLinearConv x x_scale! x_zero_point! w w_scale! w_zero_point! y_scale! y_zero_point! B
                QLinearGlobalAveragePool X x_scale!*
                QLinearMul A A_scale! A_zero_point! B B_scale!*
                QuickGelu X
                Rfft X
                RotaryEmbedding input position_ids! cos_cache! sin_cache!
                SkipGroupNorm X gamma beta skip bias
                SkipLayerNormalization input skip gamma beta bias
                SkipSimplifiedLayerNormalization input skip gamma bias
                TransposeMatMul A B
                """);
        add(MICROSOFT, Result.UNKNOWN, """
                QLinearConcat table_indices!*
                QLinearLeakyRelu table_indices!*
                QLinearSigmoid table_indices!*
                QLinearSoftmax table_indices!*
                QLinearWhere table_indices!*
                """);
        add(MICROSOFT, Result.FORWARDED, """
                DequantizeLinear x^ x_scale! x_zero_point!
                ExpandDims X axis!
                QuantizeLinear x y_scale! y_zero_point!
                Trilu X k!
                """);
        add("com.microsoft.nchwc", Result.COMPUTED, """
                AveragePool X
                Conv X W B Sum
                GlobalAveragePool X
                GlobalMaxPool X
                MaxPool X
                """);
        add("com.microsoft.nchwc", Result.FORWARDED, """
                ReorderInput X
                ReorderOutput X
                Upsample X
                """);
        add("ai.onnx.ml", Result.COMPUTED, """
                Binarizer X
                LinearRegressor X
                Normalizer X
                Scaler X
                """);
    }

    private Operators() {}

    private static void add(String domain, Result result, String lines) {
        lines.lines()
                .map(line -> line.strip().split(" "))
                .forEach(words -> KNOWN.put(
                        new OperatorKey(domain, words[0], ""),
                        new Operator(
                                result,
                                Arrays.stream(words)
                                        .skip(1)
                                        .map(Operators::role)
                                        .toList())));
    }

    private static Role role(String word) {
        return new Role(
                word.replaceAll("[!%^*]", "").replace('_', ' '),
                word.contains("!")
                        ? Use.DECIDES
                        : word.contains("%") ? Use.DIVISION : word.contains("^") ? Use.QUANTIZED : Use.DATA,
                word.contains("*"));
    }

    /** What is known of an operator; empty for one that nobody has looked at. */
    static Optional<Operator> find(OperatorKey key) {
        return Optional.ofNullable(KNOWN.get(key));
    }

    static List<String> names(String domain) {
        return KNOWN.keySet().stream()
                .filter(key -> key.domain().equals(domain))
                .map(OperatorKey::name)
                .sorted()
                .toList();
    }
}
