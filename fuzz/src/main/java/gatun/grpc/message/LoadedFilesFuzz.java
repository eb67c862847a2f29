// SPDX-License-Identifier: Apache-2.0
package gatun.grpc.message;

import com.google.protobuf.InvalidProtocolBufferException;
import gatun.fuzz.FuzzInput;
import gatun.memory.tensor.GatunException;
import gatun.wire.inference.RepositoryModelLoadRequest;
import java.lang.foreign.Arena;
import java.util.OptionalLong;

/** Requests to load a model: the size of their files, found before they are read, is the one that protobuf reads. */
public final class LoadedFilesFuzz {
    private LoadedFilesFuzz() {}

    /** Reads the input as a message. */
    public static void fuzzerTestOneInput(byte[] input) {
        FuzzInput.run(input, () -> {
            OptionalLong files = files(input);
            FuzzInput.require(
                    files.isEmpty() || files.getAsLong() <= input.length, "files are larger than the message");
        });
        try {
            RepositoryModelLoadRequest theirs = RepositoryModelLoadRequest.parseFrom(input);
            long expected = theirs.getParametersMap().values().stream()
                    .mapToLong(value -> value.getBytesParam().size())
                    .sum();
            FuzzInput.requireEqual(files(theirs.toByteArray()), OptionalLong.of(expected), "the size of the files");
        } catch (InvalidProtocolBufferException e) {
            // Refused when it is read.
        }
    }

    private static OptionalLong files(byte[] input) {
        try (Arena arena = Arena.ofConfined()) {
            return OptionalLong.of(LoadedFiles.byteSize(
                    RepositoryModelLoadRequest.getDefaultInstance(), FuzzInput.inMemory(arena, input)));
        } catch (GatunException e) {
            return OptionalLong.empty();
        }
    }
}
