// SPDX-License-Identifier: Apache-2.0
package gatun.v2.grpc;

import gatun.grpc.message.RawMessage;
import gatun.grpc.message.RepeatedField;
import gatun.grpc.message.WireReader;
import gatun.grpc.message.WireReader.LimitedReader;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Hold;
import gatun.memory.tensor.TensorSpec;
import gatun.spi.ParameterValue;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/** A ModelInferRequest as read, not checked. Owns its memory until {@link #takeOwnership()}. Not thread-safe. */
public final class InferMessage extends RawMessage {
    /** A parameter of the request or a tensor; {@code value} is empty when the client set no choice of its oneof. */
    record Parameter(String name, Optional<ParameterValue> value) {}

    /** An input beside its raw data. One without parameters and contents may be of several messages. */
    record Input(TensorSpec spec, List<Parameter> parameters, Contents contents) {
        String name() {
            return spec.name();
        }

        Datatype datatype() {
            return spec.datatype();
        }
    }

    /** An output that the client names. */
    static final class Output {
        String name = "";
        List<Parameter> parameters = List.of();

        void add(Parameter parameter) {
            parameters = with(parameters, parameter);
        }
    }

    String modelName = "";
    String modelVersion = "";
    String id = "";
    List<Parameter> parameters = List.of();
    final List<Input> inputs = new ArrayList<>(4);
    List<Output> outputs = List.of();

    /** A message in {@code bytes}, which are valid until {@code hold} is closed. */
    InferMessage(MemorySegment bytes, Hold hold) {
        super(bytes, hold);
    }

    /** The request's id, empty when it has none. */
    public String id() {
        return id;
    }

    /** The model that is asked for. */
    public String modelName() {
        return modelName;
    }

    /** The version that is asked for, as the client wrote it. */
    public String modelVersion() {
        return modelVersion;
    }

    /** How many inputs it has. */
    public int inputCount() {
        return inputs.size();
    }

    void add(Parameter parameter) {
        parameters = with(parameters, parameter);
    }

    void add(Output output) {
        if (outputs.isEmpty()) {
            outputs = new ArrayList<>(4);
        }
        outputs.add(output);
    }

    /** A map's later entry replaces an earlier one of the same name. */
    static List<Parameter> with(List<Parameter> parameters, Parameter parameter) {
        List<Parameter> more = parameters.isEmpty() ? new ArrayList<>(4) : parameters;
        more.removeIf(earlier -> earlier.name().equals(parameter.name()));
        more.add(parameter);
        return more;
    }

    /** Where an input's typed data lies in its message, by type. Made by the decoder, which read it. */
    static final class Contents {
        /** The datatypes of the fields, by field number; nothing has number 0. */
        private static final Datatype[] FIELD_TYPES = {
            Datatype.INVALID,
            Datatype.BOOL,
            Datatype.INT32,
            Datatype.INT64,
            Datatype.UINT32,
            Datatype.UINT64,
            Datatype.FP32,
            Datatype.FP64,
            Datatype.BYTES
        };

        static final int LAST_FIELD = FIELD_TYPES.length - 1;
        static final Contents ABSENT = new Contents();

        private final long[] counts = new long[FIELD_TYPES.length];
        private int[] ranges = new int[2];
        private int rangeCount;
        private long byteCount;

        /** Whether the input has typed data, be it none. */
        boolean isPresent() {
            return rangeCount > 0;
        }

        void addRange(int start, int end) {
            if (2 * rangeCount == ranges.length) {
                ranges = Arrays.copyOf(ranges, 2 * ranges.length);
            }
            ranges[2 * rangeCount] = start;
            ranges[2 * rangeCount + 1] = end;
            rangeCount++;
        }

        int rangeCount() {
            return rangeCount;
        }

        int rangeStart(int index) {
            return ranges[2 * index];
        }

        int rangeEnd(int index) {
            return ranges[2 * index + 1];
        }

        void count(int field, long elements) {
            counts[field] += elements;
        }

        void countBytes(long size) {
            byteCount += size;
        }

        long elements(int field) {
            return counts[field];
        }

        long stringBytes() {
            return byteCount;
        }

        static Datatype typeOf(int field) {
            return FIELD_TYPES[field];
        }

        static boolean fits(int field, Datatype datatype) {
            return switch (datatype) {
                case INT8, INT16, INT32 -> FIELD_TYPES[field] == Datatype.INT32;
                case UINT8, UINT16, UINT32 -> FIELD_TYPES[field] == Datatype.UINT32;
                case BOOL, INT64, UINT64, FP32, FP64, BYTES -> FIELD_TYPES[field] == datatype;
                default -> false;
            };
        }

        /** Reads typed tensor data: how much there is, then the data into the tensor's memory, without objects. */
        static final class ContentsReader {
            private static final int FP32 = 6;
            private static final int FP64 = 7;
            private static final int BYTES = 8;

            private ContentsReader() {}

            /** Reads a contents message and notes what it has. Leaves the reader anywhere. */
            static void survey(LimitedReader in, Contents contents, int start, int end) {
                in.countRange();
                contents.addRange(start, end);
                in.window(start, end);
                while (in.hasMore()) {
                    int tag = in.tag();
                    int field = WireReader.field(tag);
                    if (field > Contents.LAST_FIELD) {
                        in.skip(tag);
                    } else if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                        // A single element, not packed with its neighbours; of the wrong type, it is an unknown field.
                        in.skip(tag);
                        contents.count(field, WireReader.type(tag) == elementType(field) ? 1 : 0);
                    } else if (field == BYTES) {
                        int length = in.length();
                        in.advance(length);
                        contents.count(field, 1);
                        contents.countBytes(length);
                    } else {
                        contents.count(field, RepeatedField.packedCount(in, elementType(field)));
                    }
                }
            }

            private static int elementType(int field) {
                return switch (field) {
                    case FP32 -> WireReader.FIXED32;
                    case FP64 -> WireReader.FIXED64;
                    case BYTES -> WireReader.LENGTH_DELIMITED;
                    default -> WireReader.VARINT;
                };
            }

            static long byteSize(Contents contents, int field, Datatype datatype) {
                return field == BYTES
                        ? contents.stringBytes() + Integer.BYTES * contents.elements(field)
                        : contents.elements(field) * datatype.byteSize();
            }

            static void write(
                    MemorySegment message, Contents contents, int field, Datatype datatype, MemorySegment target) {
                RepeatedField values = new RepeatedField(message, field, elementType(field), datatype);
                long offset = 0;
                for (int i = 0; i < contents.rangeCount(); i++) {
                    offset = values.write(contents.rangeStart(i), contents.rangeEnd(i), target, offset);
                }
            }
        }
    }
}
