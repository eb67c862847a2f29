// SPDX-License-Identifier: Apache-2.0
package gatun.backend.tensorflow;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The operations of a graph and its functions, to tell whether one may keep a tensor that a request brings: one that is
 * assigned to a variable, or put into a queue, lives on after the run.
 */
final class Operations {
    // Fields of GraphDef, FunctionDefLibrary, FunctionDef and OpDef.
    private static final int NODES = 1;
    private static final int LIBRARY = 2;
    private static final int FUNCTIONS = 1;
    private static final int SIGNATURE = 1;
    private static final int BODY = 3;
    private static final int SIGNATURE_NAME = 1;

    // Fields of NodeDef.
    private static final int NODE_NAME = 1;
    private static final int OPERATION = 2;
    private static final int INPUT = 3;
    private static final int ATTRIBUTES = 5;

    // Fields of an attribute's entry, of AttrValue, of its list, and of NameAttrList.
    private static final int VALUE = 2;
    private static final int LIST = 1;
    private static final int FUNCTION = 10;
    private static final int LISTED_FUNCTIONS = 9;
    private static final int FUNCTION_NAME = 1;

    /**
     * Operations that keep no reference to their inputs after a run: they compute, read, or call functions, which are
     * looked into. All others, a user's own included, are taken to keep them, so their models pay with a copy.
     */
    private static final Set<String> HARMLESS = Set.of("""
            Abs Add AddN AddV2 All Any ArgMax ArgMin AsString Asin Assert Atan Atan2 AvgPool BatchMatMul BatchMatMulV2 BatchMatMulV3
            BatchToSpaceND BiasAdd Bitcast BroadcastArgs BroadcastTo Cast Ceil CheckNumerics ClipByValue Concat ConcatV2 Const Conv1D Conv2D
            Conv3D Cos Cumprod Cumsum DecodeBase64 DecodeJpeg DecodePng DecodeRaw DepthToSpace DepthwiseConv2dNative Div DivNoNan Einsum
            Elu EncodeBase64 EnsureShape Equal Erf Erfc Exp ExpandDims Expm1 Fill Floor FloorDiv FloorMod FusedBatchNorm
            FusedBatchNormV2 FusedBatchNormV3 Gather GatherNd GatherV2 Greater GreaterEqual HashTable HashTableV2 Identity IdentityN If
            InvertPermutation IsFinite IsInf IsNan L2Loss LRN LeakyRelu Less LessEqual LinSpace Log Log1p LogSoftmax LogicalAnd
            LogicalNot LogicalOr LookupTableFind LookupTableFindV2 LookupTableSizeV2 MatMul Max MaxPool MaxPoolV2 Maximum Mean Merge Min
            Minimum MirrorPad Mod Mul MulNoNan Neg NoOp NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 NotEqual OneHot
            OnesLike Pack Pad PadV2 ParseExample ParseExampleV2 ParseSingleExample PartitionedCall Placeholder PlaceholderWithDefault Pow
            Prod Range Rank ReadVariableOp RealDiv Reciprocal ReduceJoin RegexFullMatch RegexReplace Relu Relu6 Reshape ResizeBicubic
            ResizeBilinear ResizeNearestNeighbor ResourceGather ReverseSequence ReverseV2 Rint Round Rsqrt Select SelectV2 Selu Shape
            ShapeN Sigmoid Sign Sin Size Slice Softmax Softplus Softsign SpaceToBatchND SpaceToDepth SparseToDense Split SplitV Sqrt
            Square SquaredDifference Squeeze StatefulPartitionedCall StatelessIf StatelessWhile StaticRegexFullMatch
            StaticRegexReplace StopGradient StridedSlice StringFormat StringJoin StringLength StringLower StringSplit StringSplitV2
            StringStrip StringToHashBucketFast StringToNumber StringUpper Sub Substr Sum Switch Tan Tanh Tile TopK TopKV2 Transpose
            TruncateDiv TruncateMod Unique UniqueV2 Unpack UnicodeDecode UnsortedSegmentSum VarHandleOp VarIsInitializedOp Variable
            VariableV2 Where While Xdivy Xlogy ZerosLike
            """.strip().split("\\s+"));

    private static final Set<String> VARIABLES = Set.of("VarHandleOp", "Variable", "VariableV2");

    /** A node of the graph, or all of a function's. */
    private record Node(Set<String> operations, Set<String> inputs, Set<String> functions) {
        Node() {
            this(new HashSet<>(), new HashSet<>(), new HashSet<>());
        }
    }

    private final Map<String, Node> nodes = new HashMap<>();
    private final Map<String, Node> functions = new HashMap<>();

    /** Whether the model may keep an input of a run that ends at these nodes. */
    boolean mayKeepInputs(Collection<String> ends) {
        Set<Node> seen = new HashSet<>();
        Deque<Node> open = new ArrayDeque<>();
        ends.forEach(name -> reach(nodes.get(name), seen, open));
        while (!open.isEmpty()) {
            Node node = open.pop();
            if (!HARMLESS.containsAll(node.operations)) {
                return true;
            }
            node.inputs.forEach(name -> reach(nodes.get(name), seen, open));
            node.functions.forEach(name -> reach(functions.get(name), seen, open));
        }
        return false;
    }

    boolean haveVariables() {
        return nodes.values().stream().anyMatch(node -> !Collections.disjoint(node.operations, VARIABLES));
    }

    private static void reach(@Nullable Node node, Set<Node> seen, Deque<Node> open) {
        if (node != null && seen.add(node)) {
            open.push(node);
        }
    }

    /** Reads a GraphDef, length first. */
    void readGraph(CodedInputStream in) throws IOException {
        int end = in.pushLimit(in.readRawVarint32());
        for (int field = in.readTag(); field != 0; field = in.readTag()) {
            switch (WireFormat.getTagFieldNumber(field)) {
                case NODES -> {
                    Node node = new Node();
                    nodes.put(readNode(in, node), node);
                }
                case LIBRARY -> readField(in, FUNCTIONS, () -> readFunction(in));
                default -> in.skipField(field);
            }
        }
        in.popLimit(end);
    }

    /** Reads a field after its tag. */
    @FunctionalInterface
    interface FieldReader {
        void read() throws IOException;
    }

    /** Reads a message, length first, by {@code reader} for each field {@code number}, and skips the others. */
    static void readField(CodedInputStream in, int number, FieldReader reader) throws IOException {
        int end = in.pushLimit(in.readRawVarint32());
        for (int field = in.readTag(); field != 0; field = in.readTag()) {
            if (WireFormat.getTagFieldNumber(field) == number) {
                reader.read();
            } else {
                in.skipField(field);
            }
        }
        in.popLimit(end);
    }

    private void readFunction(CodedInputStream in) throws IOException {
        Node body = new Node();
        String name = "";
        int end = in.pushLimit(in.readRawVarint32());
        for (int field = in.readTag(); field != 0; field = in.readTag()) {
            switch (WireFormat.getTagFieldNumber(field)) {
                case SIGNATURE -> name = readText(in, SIGNATURE_NAME);
                case BODY -> readNode(in, body);
                default -> in.skipField(field);
            }
        }
        in.popLimit(end);
        body.inputs.clear(); // all of a function counts
        functions.put(name, body);
    }

    /** Adds a node to {@code node}; returns its name. */
    private static String readNode(CodedInputStream in, Node node) throws IOException {
        String name = "";
        int end = in.pushLimit(in.readRawVarint32());
        for (int field = in.readTag(); field != 0; field = in.readTag()) {
            switch (WireFormat.getTagFieldNumber(field)) {
                case NODE_NAME -> name = in.readString();
                case OPERATION -> node.operations.add(in.readString().intern());
                case INPUT -> node.inputs.add(TensorName.operation(in.readString()));
                case ATTRIBUTES -> readField(in, VALUE, () -> readFunctions(in, node, FUNCTION));
                default -> in.skipField(field);
            }
        }
        in.popLimit(end);
        return name;
    }

    /** Adds the functions that an AttrValue names, or the list in one, in the field {@code position}. */
    private static void readFunctions(CodedInputStream in, Node node, int position) throws IOException {
        int end = in.pushLimit(in.readRawVarint32());
        for (int field = in.readTag(); field != 0; field = in.readTag()) {
            int number = WireFormat.getTagFieldNumber(field);
            if (number == position) {
                node.functions.add(readText(in, FUNCTION_NAME));
            } else if (number == LIST && position == FUNCTION) {
                readFunctions(in, node, LISTED_FUNCTIONS);
            } else {
                in.skipField(field);
            }
        }
        in.popLimit(end);
    }

    /** The text in field {@code position} of a message whose other fields are of no use. */
    private static String readText(CodedInputStream in, int position) throws IOException {
        String[] text = {""};
        readField(in, position, () -> text[0] = in.readString());
        return text[0];
    }
}
