// SPDX-License-Identifier: Apache-2.0
package gatun.it.torch;

import com.google.protobuf.ByteString;
import gatun.it.harness.ExampleModels;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/** The models of {@code examples/pytorch}, and what PyTorch's own Python answers. */
final class ExamplePackages {
    /** The models, and the files with the answers. */
    static final ExampleModels ALL = ExampleModels.of("pytorch");

    private ExamplePackages() {}

    /** A tensor that was sent, or answered. */
    record Sample(String datatype, List<Long> shape, ByteString bytes) {}

    /** The {@code inputs} or {@code outputs} of the sample of a model. */
    static List<Sample> samples(String model, String kind) throws IOException {
        Map<?, ?> root = (Map<?, ?>) ALL.expected(model);
        List<Sample> samples = new ArrayList<>();
        for (Object entry : (List<?>) Objects.requireNonNull(root.get(kind))) {
            Map<?, ?> tensor = (Map<?, ?>) entry;
            String datatype = String.valueOf(tensor.get("datatype"));
            List<Long> shape = ((List<?>) Objects.requireNonNull(tensor.get("shape")))
                    .stream().map(dim -> ((Number) dim).longValue()).toList();
            List<?> data = (List<?>) Objects.requireNonNull(tensor.get("data"));
            ByteBuffer bytes = ByteBuffer.allocate(8 * data.size()).order(ByteOrder.LITTLE_ENDIAN);
            data.forEach(number -> put(bytes, datatype, (Number) number));
            samples.add(new Sample(datatype, shape, ByteString.copyFrom(bytes.flip())));
        }
        return samples;
    }

    private static void put(ByteBuffer bytes, String datatype, Number number) {
        switch (datatype) {
            case "FP32" -> bytes.putFloat(number.floatValue());
            case "FP64" -> bytes.putDouble(number.doubleValue());
            case "FP16" -> bytes.putShort(Float.floatToFloat16(number.floatValue()));
            case "BF16" -> bytes.putShort((short) (Float.floatToIntBits(number.floatValue()) >>> 16));
            case "INT64" -> bytes.putLong(number.longValue());
            case "INT32" -> bytes.putInt(number.intValue());
            case "INT16" -> bytes.putShort(number.shortValue());
            case "INT8", "UINT8", "BOOL" -> bytes.put(number.byteValue());
            default -> throw new IllegalArgumentException(datatype);
        }
    }

    /** What may be done to a file of a package. */
    @FunctionalInterface
    interface Change {
        byte[] apply(String name, byte[] content);
    }

    /** Writes a model's package with other files in it. A change that gives no bytes leaves a file out. */
    static void rewrite(String model, Path to, Change change) throws IOException {
        Map<String, byte[]> files = new LinkedHashMap<>();
        try (ZipFile archive = new ZipFile(ALL.file(model).toFile())) {
            for (ZipEntry entry : Collections.list(archive.entries())) {
                try (InputStream in = archive.getInputStream(entry)) {
                    byte[] changed = change.apply(entry.getName(), in.readAllBytes());
                    if (changed.length > 0) {
                        files.put(entry.getName(), changed);
                    }
                }
            }
        }
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(to))) {
            for (Map.Entry<String, byte[]> entry : files.entrySet()) {
                out.putNextEntry(new ZipEntry(entry.getKey()));
                out.write(entry.getValue());
            }
        }
    }
}
