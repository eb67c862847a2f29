// SPDX-License-Identifier: Apache-2.0
package gatun.backend.onnxruntime.graph;

import gatun.wire.WireCursor;

/** Tags of fields that are read of <a href="https://github.com/onnx/onnx/blob/main/onnx/onnx.proto">onnx.proto</a>. */
final class Tags {
    private static final int TYPE_BITS = 3;
    private static final int VARINT = WireCursor.VARINT;
    private static final int DELIMITED = WireCursor.LENGTH_DELIMITED;

    static final int MODEL_GRAPH = 7 << TYPE_BITS | DELIMITED;
    static final int MODEL_OPSET = 8 << TYPE_BITS | DELIMITED;
    static final int MODEL_FUNCTION = 25 << TYPE_BITS | DELIMITED;

    static final int OPSET_DOMAIN = 1 << TYPE_BITS | DELIMITED;
    static final int OPSET_VERSION = 2 << TYPE_BITS | VARINT;

    static final int GRAPH_NODE = 1 << TYPE_BITS | DELIMITED;
    static final int GRAPH_INITIALIZER = 5 << TYPE_BITS | DELIMITED;
    static final int GRAPH_INPUT = 11 << TYPE_BITS | DELIMITED;
    static final int GRAPH_OUTPUT = 12 << TYPE_BITS | DELIMITED;
    static final int GRAPH_VALUE = 13 << TYPE_BITS | DELIMITED;

    static final int FUNCTION_NAME = 1 << TYPE_BITS | DELIMITED;
    static final int FUNCTION_INPUT = 4 << TYPE_BITS | DELIMITED;
    static final int FUNCTION_OUTPUT = 5 << TYPE_BITS | DELIMITED;
    static final int FUNCTION_NODE = 7 << TYPE_BITS | DELIMITED;
    static final int FUNCTION_DOMAIN = 10 << TYPE_BITS | DELIMITED;
    static final int FUNCTION_ATTRIBUTE = 11 << TYPE_BITS | DELIMITED;
    static final int FUNCTION_OVERLOAD = 13 << TYPE_BITS | DELIMITED;

    static final int NODE_INPUT = 1 << TYPE_BITS | DELIMITED;
    static final int NODE_OUTPUT = 2 << TYPE_BITS | DELIMITED;
    static final int NODE_NAME = 3 << TYPE_BITS | DELIMITED;
    static final int NODE_OPERATOR = 4 << TYPE_BITS | DELIMITED;
    static final int NODE_ATTRIBUTE = 5 << TYPE_BITS | DELIMITED;
    static final int NODE_DOMAIN = 7 << TYPE_BITS | DELIMITED;
    static final int NODE_OVERLOAD = 8 << TYPE_BITS | DELIMITED;

    static final int ATTRIBUTE_NAME = 1 << TYPE_BITS | DELIMITED;
    static final int ATTRIBUTE_NUMBER = 3 << TYPE_BITS | VARINT;
    static final int ATTRIBUTE_TENSOR = 5 << TYPE_BITS | DELIMITED;
    static final int ATTRIBUTE_GRAPH = 6 << TYPE_BITS | DELIMITED;
    static final int ATTRIBUTE_NUMBERS = 8 << TYPE_BITS | VARINT;
    static final int ATTRIBUTE_NUMBERS_PACKED = 8 << TYPE_BITS | DELIMITED;
    static final int ATTRIBUTE_GRAPHS = 11 << TYPE_BITS | DELIMITED;
    static final int ATTRIBUTE_REFERENCE = 21 << TYPE_BITS | DELIMITED;

    static final int TENSOR_DIMS = 1 << TYPE_BITS | VARINT;
    static final int TENSOR_DIMS_PACKED = 1 << TYPE_BITS | DELIMITED;
    static final int TENSOR_TYPE = 2 << TYPE_BITS | VARINT;
    static final int TENSOR_FLOATS = 4 << TYPE_BITS | DELIMITED;
    static final int TENSOR_INT32S = 5 << TYPE_BITS | VARINT;
    static final int TENSOR_INT32S_PACKED = 5 << TYPE_BITS | DELIMITED;
    static final int TENSOR_TEXTS = 6 << TYPE_BITS | DELIMITED;
    static final int TENSOR_INT64S = 7 << TYPE_BITS | VARINT;
    static final int TENSOR_INT64S_PACKED = 7 << TYPE_BITS | DELIMITED;
    static final int TENSOR_NAME = 8 << TYPE_BITS | DELIMITED;
    static final int TENSOR_RAW = 9 << TYPE_BITS | DELIMITED;
    static final int TENSOR_DOUBLES = 10 << TYPE_BITS | DELIMITED;
    static final int TENSOR_UINT64S = 11 << TYPE_BITS | DELIMITED;
    static final int TENSOR_ELSEWHERE = 13 << TYPE_BITS | DELIMITED;

    static final int VALUE_NAME = 1 << TYPE_BITS | DELIMITED;
    static final int VALUE_TYPE = 2 << TYPE_BITS | DELIMITED;
    static final int TYPE_TENSOR = 1 << TYPE_BITS | DELIMITED;
    static final int TENSOR_TYPE_ELEMENT = 1 << TYPE_BITS | VARINT;
    static final int TENSOR_TYPE_SHAPE = 2 << TYPE_BITS | DELIMITED;
    static final int SHAPE_DIM = 1 << TYPE_BITS | DELIMITED;

    private Tags() {}
}
