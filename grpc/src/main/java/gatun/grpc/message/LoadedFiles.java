// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import gatun.wire.inference.ModelRepositoryParameter;
import gatun.wire.inference.RepositoryModelLoadRequest;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/** The files of a model in a request to load it: they may be as large as messages are. */
final class LoadedFiles {
    private static final int MAP_VALUE = 2;

    private LoadedFiles() {}

    /** Bytes of the files in a message of {@code prototype}'s type, found without reading; 0 in another type. */
    static long byteSize(Message prototype, MemorySegment message) {
        if (!(prototype instanceof RepositoryModelLoadRequest)) {
            return 0;
        }
        WireReader in = new WireReader(message);
        return sum(
                in,
                in.limit(),
                RepositoryModelLoadRequest.PARAMETERS_FIELD_NUMBER,
                MAP_VALUE,
                ModelRepositoryParameter.BYTES_PARAM_FIELD_NUMBER);
    }

    /** Bytes of all fields on a path of field numbers, from the reader's position to {@code end}, where it is left. */
    private static long sum(WireReader in, int end, int... path) {
        long byteSize = 0;
        in.window(in.position(), end);
        while (in.hasMore()) {
            int tag = in.tag();
            if (WireReader.type(tag) != WireReader.LENGTH_DELIMITED) {
                in.skip(tag);
                continue;
            }
            int length = in.length();
            int fieldEnd = in.position() + length;
            if (WireReader.field(tag) != path[0]) {
                in.advance(length);
            } else if (path.length == 1) {
                byteSize += length;
                in.advance(length);
            } else {
                byteSize += sum(in, fieldEnd, Arrays.copyOfRange(path, 1, path.length));
            }
            in.window(fieldEnd, end);
        }
        return byteSize;
    }

    static boolean isConfiguration(FieldDescriptor field) {
        return field.getNumber() == ModelRepositoryParameter.STRING_PARAM_FIELD_NUMBER
                && field.getContainingType().equals(ModelRepositoryParameter.getDescriptor());
    }
}
