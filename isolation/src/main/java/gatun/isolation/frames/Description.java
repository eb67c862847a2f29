// SPDX-License-Identifier: Apache-2.0
package gatun.isolation.frames;

import com.google.protobuf.InvalidProtocolBufferException;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.spi.BackendModel;
import gatun.spi.EntryPoint;
import gatun.spi.EntryTensor;
import gatun.wire.tensorflow.SignatureDef;
import gatun.workers.FrameReader;
import gatun.workers.FrameValues;
import gatun.workers.FrameWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a loaded version tells of itself, as {@link BackendModel} has it. */
public record Description(
        List<EntryPoint> entryPoints, Map<String, SignatureDef> signatures, boolean takesRequestsApart) {
    /** Copies the lists. */
    public Description {
        entryPoints = List.copyOf(entryPoints);
        signatures = Map.copyOf(signatures);
    }

    /** What {@code model} tells. */
    public static Description of(BackendModel model) {
        return new Description(model.entryPoints(), model.signatures(), model.takesRequestsApart());
    }

    /** Writes it to a frame. */
    public void write(FrameWriter frame) {
        frame.u8(takesRequestsApart ? 1 : 0).u32(entryPoints.size());
        for (EntryPoint entry : entryPoints) {
            frame.text(entry.name()).text(entry.method());
            write(frame, entry.inputs());
            write(frame, entry.outputs());
        }
        frame.u32(signatures.size());
        signatures.forEach((name, signature) -> frame.text(name).bytes(signature.toByteArray()));
    }

    private static void write(FrameWriter frame, List<EntryTensor> tensors) {
        frame.u32(tensors.size());
        for (EntryTensor tensor : tensors) {
            FrameValues.writeSpec(frame, tensor.spec());
            frame.text(tensor.engineName());
            frame.u8(tensor.anyShape() ? 1 : 0).u8(tensor.optional() ? 1 : 0);
        }
    }

    /** Reads one from a frame. */
    public static Description read(FrameReader frame) {
        boolean apart = frame.u8() != 0;
        List<EntryPoint> entryPoints =
                frame.list(1, () -> new EntryPoint(frame.text(), frame.text(), tensors(frame), tensors(frame)));
        Map<String, SignatureDef> signatures = new LinkedHashMap<>();
        int count = frame.count(1);
        for (int i = 0; i < count; i++) {
            String name = frame.text();
            try {
                signatures.put(name, SignatureDef.parseFrom(frame.bytes()));
            } catch (InvalidProtocolBufferException e) {
                throw new GatunException(ErrorCode.INTERNAL, "a worker sent signature '" + name + "' malformed", e);
            }
        }
        return new Description(entryPoints, signatures, apart);
    }

    private static List<EntryTensor> tensors(FrameReader frame) {
        return frame.list(1, () -> {
            var spec = FrameValues.readSpec(frame);
            String engineName = frame.text();
            boolean anyShape = frame.u8() != 0;
            return new EntryTensor(spec, anyShape, engineName, frame.u8() != 0);
        });
    }
}
