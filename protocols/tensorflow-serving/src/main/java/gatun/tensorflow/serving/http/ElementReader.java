// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving.http;

import gatun.http.json.JsonKind;
import gatun.http.json.JsonNumber;
import gatun.http.json.JsonReader;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.TensorSpec;
import gatun.tensorflow.serving.DataTypes;

/** Reads single elements of a tensor. For one thread. */
final class ElementReader {
    private final ValueText values;
    private final String input;
    private final Datatype datatype;
    private final ElementBuffer target;

    /** Appends elements of {@code spec} to {@code target}; {@code values} shows wrong ones. */
    ElementReader(ValueText values, TensorSpec spec, ElementBuffer target) {
        this.values = values;
        this.input = spec.name();
        this.datatype = spec.datatype();
        this.target = target;
    }

    /** Reads a value, no array. Throws INVALID_ARGUMENT for a wrong type, UNSUPPORTED for one without form in JSON. */
    void read(JsonReader json) {
        JsonKind kind = json.peek();
        if (kind == JsonKind.NUMBER) {
            readNumber(json);
        } else if (datatype == Datatype.BYTES && kind == JsonKind.STRING) {
            target.putString(json);
        } else if (datatype == Datatype.BYTES && kind == JsonKind.OBJECT) {
            readBase64(json);
        } else if (datatype == Datatype.BOOL && kind == JsonKind.BOOLEAN) {
            target.putByte(json.readBoolean("") ? 1 : 0);
        } else {
            throw misfit(json.position(), kind);
        }
    }

    /** Reads at most {@code most} values of an array in one go; returns how many, 0 where {@link #read} is to do it. */
    long readRun(JsonReader json, long most) {
        return datatype == Datatype.FP32 ? target.putFloats(json, most) : 0;
    }

    private void readNumber(JsonReader json) {
        long position = json.position();
        JsonNumber number = json.readNumber("");
        switch (datatype) {
            // As in TensorFlow Serving, a number beyond the greatest float is rounded to infinity.
            case FP32 -> target.putFloat(number.toFloat());
            case FP64 -> target.putDouble(number.toDouble());
            // TensorFlow Serving wraps values around that are beyond a narrow type but not beyond 32 bits; to its
            // clients a wrong number is worse than an error.
            case INT8 -> target.putByte(narrow(number, position, Byte.MIN_VALUE, Byte.MAX_VALUE));
            case UINT8 -> target.putByte(narrow(number, position, 0, 0xFF));
            case INT16 -> target.putShort(narrow(number, position, Short.MIN_VALUE, Short.MAX_VALUE));
            case INT32 -> target.putInt(integer(number, position));
            case INT64 -> {
                check(number.fitsSigned64(), position);
                target.putLong(number.integerBits());
            }
            case UINT32 -> {
                check(number.fitsUnsigned64() && number.integerBits() >>> Integer.SIZE == 0, position);
                target.putInt((int) number.integerBits());
            }
            case UINT64 -> {
                check(number.fitsUnsigned64(), position);
                target.putLong(number.integerBits());
            }
            default -> throw misfit(position, JsonKind.NUMBER);
        }
    }

    private int integer(JsonNumber number, long position) {
        check(number.fitsSigned64() && number.integerBits() == (int) number.integerBits(), position);
        return (int) number.integerBits();
    }

    private int narrow(JsonNumber number, long position, int least, int greatest) {
        int value = integer(number, position);
        if (value < least || value > greatest) {
            throw outOfRange(position, least, greatest);
        }
        return value;
    }

    /** The failure of a number that the original would change, in the words that it has for those that it refuses. */
    private GatunException outOfRange(long position, int least, int greatest) {
        return GatunException.invalidArgument(misfit(position, JsonKind.NUMBER).getMessage() + "; element "
                + target.byteSize() / datatype.byteSize() + " of input '" + input + "' must be from " + least + " to "
                + greatest);
    }

    private void check(boolean fits, long position) {
        if (!fits) {
            throw misfit(position, JsonKind.NUMBER);
        }
    }

    private void readBase64(JsonReader json) {
        long position = json.position();
        long string = Base64Value.find(json);
        if (string == Base64Value.NONE) {
            throw GatunException.invalidArgument(
                    "JSON Value: " + values.at(position) + " not formatted correctly for base64 data");
        }
        long end = json.position();
        json.position(string);
        target.putBase64(json);
        json.position(end);
    }

    private GatunException misfit(long position, JsonKind kind) {
        String type = DataTypes.shortName(datatype);
        boolean hasNoForm =
                switch (datatype) {
                    case BOOL, UINT8, UINT32, UINT64, INT8, INT16, INT32, INT64, FP32, FP64, BYTES -> false;
                    default -> kind != JsonKind.OBJECT;
                };
        if (hasNoForm) {
            return new GatunException(
                    ErrorCode.UNSUPPORTED, "Conversion of JSON Value: " + values.at(position) + " to type: " + type);
        }
        return GatunException.invalidArgument("JSON Value: " + values.at(position) + " Type: " + values.kind(position)
                + " is not of expected type: " + type);
    }
}
