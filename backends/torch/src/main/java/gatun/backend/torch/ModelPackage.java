// SPDX-License-Identifier: Apache-2.0
package gatun.backend.torch;

import gatun.bindings.Descriptor;
import gatun.bindings.Posix;
import gatun.memory.tensor.GatunException;
import gatun.memory.tensor.IoFailure;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;

/** A ZIP archive of {@code aoti_compile_and_package}. Writes to no disk; its names are never paths. For one thread. */
final class ModelPackage implements AutoCloseable {
    private static final Pattern MODEL_FILE = Pattern.compile("(?:[^/]+/)?data/aotinductor/([^/]+)/([^/]+)");

    /** The model that is taken if there are several, as PyTorch calls it where nobody names it. */
    private static final String USUAL_MODEL = "model";

    /** In the C++ of loops that threads share, and of checks that throw. */
    private static final String THREADS = "#pragma omp parallel";

    private static final String CHECK = "AOTI_TORCH_CHECK(";
    private static final String LIBRARY = ".so";
    private static final String WEIGHTS = "_weights.blob";

    /** Larger descriptions are of no use, or made to harm. */
    private static final long MAX_METADATA_BYTES = 1L << 20;

    private static final long MAX_SOURCE_BYTES = 32L << 20;

    /** PyTorch does not compress, and code and weights that others compress become no smaller than this. */
    private static final long MAX_RATIO = 32;

    private static final int CHUNK_BYTES = 1 << 16;
    private static final long WEIGHTS_ALIGNMENT = 64;

    private final ZipFile archive;
    private final Path path;
    private final SortedMap<String, ZipEntry> files;

    private ModelPackage(ZipFile archive, Path path, SortedMap<String, ZipEntry> files) {
        this.archive = archive;
        this.path = path;
        this.files = files;
    }

    /** Opens a package. Throws INVALID_ARGUMENT when the file is none. */
    static ModelPackage open(Path path, String model) {
        String what = "model '" + model + "': " + path.getFileName();
        try {
            ZipFile archive = new ZipFile(path.toFile());
            try {
                return new ModelPackage(archive, path, model(archive, what));
            } catch (RuntimeException | Error e) {
                archive.close();
                throw e;
            }
        } catch (ZipException e) {
            throw GatunException.invalidArgument(what + " is no PyTorch package, or was cut short (" + e.getMessage()
                    + "); make one by torch._inductor.aoti_compile_and_package");
        } catch (IOException e) {
            throw GatunException.invalidArgument(what + " cannot be read: " + IoFailure.reason(e));
        }
    }

    private static SortedMap<String, ZipEntry> model(ZipFile archive, String what) {
        Map<String, SortedMap<String, ZipEntry>> models = new TreeMap<>();
        for (ZipEntry entry : Collections.list(archive.entries())) {
            Matcher name = MODEL_FILE.matcher(entry.getName());
            if (name.matches()) {
                models.computeIfAbsent(name.group(1), key -> new TreeMap<>()).put(name.group(2), entry);
            }
        }
        if (models.isEmpty()) {
            throw GatunException.invalidArgument(what + " has no model of AOTInductor (no folder data/aotinductor);"
                    + " make one by torch._inductor.aoti_compile_and_package, not by torch.export.save");
        }
        SortedMap<String, ZipEntry> usual = models.get(USUAL_MODEL);
        if (usual == null && models.size() > 1) {
            throw GatunException.invalidArgument(what + " has the models " + String.join(", ", models.keySet())
                    + "; expected one, or one called " + USUAL_MODEL);
        }
        return usual != null ? usual : models.values().iterator().next();
    }

    private ZipEntry libraryEntry() {
        List<String> libraries =
                files.keySet().stream().filter(name -> name.endsWith(LIBRARY)).toList();
        if (libraries.size() == 1) {
            return Objects.requireNonNull(files.get(libraries.getFirst()));
        }
        throw GatunException.invalidArgument(what() + " has "
                + (libraries.isEmpty()
                        ? "no compiled library; package it without aot_inductor.package_cpp_only"
                        : "the libraries " + String.join(", ", libraries) + "; expected one"));
    }

    String what() {
        return "its " + path.getFileName();
    }

    /** What PyTorch says of the machine that the library is for; none when it says nothing. */
    Map<String, String> metadata() {
        return sibling("_metadata.json")
                .map(entry -> metadata(text(entry, MAX_METADATA_BYTES)))
                .orElse(Map.of());
    }

    private Map<String, String> metadata(String json) {
        Map<String, String> metadata = new HashMap<>();
        try {
            if (PackageJson.read(json) instanceof Map<?, ?> root) {
                root.forEach((key, value) -> {
                    if (value instanceof String text) {
                        metadata.put(String.valueOf(key), text);
                    }
                });
                return metadata;
            }
        } catch (IOException e) {
            // As any other text that is no object.
        }
        throw GatunException.invalidArgument(what() + " has metadata that is no JSON object; it may be damaged");
    }

    /** The C++ that the library was compiled of; empty when the package has none, or too much of it. */
    Optional<String> source() {
        return sibling(".cpp")
                .filter(entry -> entry.getSize() <= MAX_SOURCE_BYTES)
                .map(entry -> text(entry, MAX_SOURCE_BYTES));
    }

    /** Whether a bad index may end the process: the C++ throws within an OpenMP loop. */
    boolean throwsInThreads() {
        return files.values().stream()
                .filter(entry -> entry.getName().endsWith(".cpp") && entry.getSize() <= MAX_SOURCE_BYTES)
                .map(entry -> text(entry, MAX_SOURCE_BYTES))
                .anyMatch(source -> source.contains(THREADS) && source.contains(CHECK));
    }

    /** The file that is called as the library, but for the end. */
    private Optional<ZipEntry> sibling(String end) {
        String library = libraryEntry().getName();
        String name = library.substring(library.lastIndexOf('/') + 1, library.length() - LIBRARY.length());
        return Optional.ofNullable(files.get(name + end));
    }

    private String text(ZipEntry entry, long most) {
        try (InputStream in = archive.getInputStream(entry)) {
            byte[] bytes = in.readNBytes((int) (most + 1));
            if (bytes.length > most) {
                throw GatunException.invalidArgument(
                        what() + " has in " + entry.getName() + " more than " + most + " bytes");
            }
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw damaged(entry, e);
        }
    }

    private GatunException damaged(ZipEntry entry, IOException e) {
        return GatunException.invalidArgument(
                what() + " is damaged: " + entry.getName() + " cannot be read: " + e.getMessage());
    }

    /** The library, in memory; the caller closes it. {@code here} is the machine that it must be for. */
    Descriptor library(TargetIsa here) {
        ZipEntry entry = libraryEntry();
        bound(entry);
        Descriptor file = Posix.memfdCreate("gatun-" + path.getFileName(), Posix.MFD_CLOEXEC);
        try (InputStream in = archive.getInputStream(entry);
                OutputStream out = Files.newOutputStream(Path.of("/proc/self/fd/" + file.number()))) {
            byte[] chunk = new byte[CHUNK_BYTES];
            int read = in.readNBytes(chunk, 0, chunk.length);
            here.check(Arrays.copyOf(chunk, read), what());
            ElfHead.of(chunk).ifPresent(ElfHead::keepStacks);
            for (long left = entry.getSize(); read > 0; read = in.readNBytes(chunk, 0, chunk.length)) {
                left -= read;
                if (left < 0) {
                    throw new IOException("it is longer than the " + entry.getSize() + " bytes that it should have");
                }
                out.write(chunk, 0, read);
            }
            return file;
        } catch (IOException e) {
            file.close();
            throw damaged(entry, e);
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /** The weights that the package has beside the library, in one piece; empty when there are none. */
    Optional<MemorySegment> weights(Arena arena) {
        return sibling(WEIGHTS).map(entry -> {
            bound(entry);
            MemorySegment weights = arena.allocate(Math.max(1, entry.getSize()), WEIGHTS_ALIGNMENT);
            try (InputStream in = archive.getInputStream(entry)) {
                byte[] chunk = new byte[CHUNK_BYTES];
                long at = 0;
                for (int read = in.read(chunk); read >= 0 && at + read <= entry.getSize(); read = in.read(chunk)) {
                    MemorySegment.copy(chunk, 0, weights, ValueLayout.JAVA_BYTE, at, read);
                    at += read;
                }
                if (at != entry.getSize()) {
                    throw new IOException("it has not the " + entry.getSize() + " bytes that it should have");
                }
            } catch (IOException e) {
                throw damaged(entry, e);
            }
            return weights;
        });
    }

    /** Refuses what would take far more memory than the file has bytes. */
    private void bound(ZipEntry entry) {
        long size = entry.getSize();
        long packed = entry.getCompressedSize();
        if (size < 0 || packed < 0 || size / MAX_RATIO > packed) {
            throw GatunException.invalidArgument(what() + " has " + entry.getName() + " compressed to less than 1/"
                    + MAX_RATIO + " of its " + size + " bytes, which no library or weights are");
        }
    }

    @Override
    public void close() {
        try {
            archive.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
