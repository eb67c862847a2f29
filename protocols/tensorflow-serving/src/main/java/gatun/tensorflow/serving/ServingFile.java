// SPDX-License-Identifier: Apache-2.0
package gatun.tensorflow.serving;

import com.google.protobuf.Message;
import com.google.protobuf.TextFormat;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import gatun.runtime.ProtobufText;
import java.io.IOException;
import java.nio.file.Path;

/** Reads TensorFlow Serving's configuration files: messages in protobuf's text format. */
final class ServingFile {
    private ServingFile() {}

    /** Reads {@code file} into {@code message}. Throws INVALID_ARGUMENT, with line and column for a syntax error. */
    static void read(Path file, Message.Builder message) {
        try {
            TextFormat.merge(ProtobufText.read(file), message);
        } catch (TextFormat.ParseException e) {
            throw GatunException.invalidArgument("Invalid protobuf file: '" + file + "': Error parsing text-format "
                    + message.getDescriptorForType().getFullName() + ": "
                    + String.valueOf(e.getMessage()).lines().findFirst().orElse("")
                    + "; expected " + message.getDescriptorForType().getFullName() + " in protobuf's text format");
        } catch (IOException e) {
            throw GatunException.invalidArgument("cannot read " + file + ": " + IoFailure.reason(e));
        }
    }
}
