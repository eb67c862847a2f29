// SPDX-License-Identifier: Apache-2.0
package gatun.bindings;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.zip.CRC32;

/** The process that has a client's object mapped. Arguments: what to do, the library cache, the object's key. */
final class GuardedServer {
    private static final int READ_WRITE = Posix.PROT_READ | Posix.PROT_WRITE;
    private static final int STRESS_THREADS = 4;
    private static final int STRESS_ROUNDS = 200;

    private static final MethodHandle MEMCPY = Linker.nativeLinker()
            .downcallHandle(
                    Linker.nativeLinker().defaultLookup().find("memcpy").orElseThrow(),
                    FunctionDescriptor.of(
                            ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));

    private GuardedServer() {}

    public static void main(String[] arguments) throws Exception {
        FaultGuard guard = FaultGuard.install(new LibraryCache(Path.of(arguments[1])));
        switch (arguments[0]) {
            case "copy" -> copy(guard, arguments[2]);
            case "checksum" -> checksum(guard, arguments[2]);
            case "unguarded" -> readUnguarded(arguments[2]);
            case "unguarded-copy" -> copyUnguarded(arguments[2]);
            case "stress" -> stress(guard);
            default -> throw new IllegalArgumentException(arguments[0]);
        }
    }

    private static void copy(FaultGuard guard, String key) throws IOException {
        long other = Posix.mapAnonymous(Posix.pageSize(), READ_WRITE);
        RegionGuard otherGuard =
                guard.protect(other, Posix.pageSize(), READ_WRITE).orElseThrow();
        MemorySegment region = map(key);
        RegionGuard regionGuard =
                guard.protect(region.address(), region.byteSize(), READ_WRITE).orElseThrow();
        awaitClient();
        MemorySegment copy = nativeCopy(region);
        long middle = region.byteSize() / 2;
        System.out.println("copied first " + copy.get(ValueLayout.JAVA_BYTE, 0)
                + " middle " + copy.get(ValueLayout.JAVA_BYTE, middle)
                + " last " + copy.get(ValueLayout.JAVA_BYTE, region.byteSize() - 1)
                + " broken " + regionGuard.broken());
        System.out.println("other broken " + otherGuard.broken());
        regionGuard.close();
        Posix.munmap(region.address(), region.byteSize());
    }

    private static void checksum(FaultGuard guard, String key) throws IOException {
        MemorySegment region = map(key);
        RegionGuard regionGuard =
                guard.protect(region.address(), region.byteSize(), READ_WRITE).orElseThrow();
        awaitClient();
        CRC32 crc = new CRC32();
        crc.update(region.asByteBuffer());
        System.out.println("checksum broken " + regionGuard.broken());
    }

    private static void readUnguarded(String key) throws IOException {
        MemorySegment region = map(key);
        awaitClient();
        try {
            System.out.println("read " + region.get(ValueLayout.JAVA_BYTE, 0));
        } catch (InternalError e) {
            System.out.println("read " + e);
        }
    }

    private static void copyUnguarded(String key) throws IOException {
        MemorySegment region = map(key);
        awaitClient();
        System.out.println("copied " + nativeCopy(region));
    }

    /** Every thread maps two objects, truncates one, uses both natively, and gives them back, over and over. */
    private static void stress(FaultGuard guard) throws Exception {
        List<Callable<int[]>> workers = new ArrayList<>();
        for (int thread = 0; thread < STRESS_THREADS; thread++) {
            workers.add(() -> {
                int[] counts = new int[2];
                for (int round = 0; round < STRESS_ROUNDS; round++) {
                    counts[0] += usedAndBroken(guard, true) ? 1 : 0;
                    counts[1] += usedAndBroken(guard, false) ? 0 : 1;
                }
                return counts;
            });
        }
        int broken = 0;
        int whole = 0;
        try (ExecutorService threads = Executors.newFixedThreadPool(STRESS_THREADS)) {
            for (Future<int[]> result : threads.invokeAll(workers)) {
                broken += result.get()[0];
                whole += result.get()[1];
            }
        }
        System.out.println("stress " + broken + " regions broken, " + whole + " whole");
    }

    private static boolean usedAndBroken(FaultGuard guard, boolean truncate) {
        long byteSize = 8 * Posix.pageSize();
        try (SharedObject object = SharedObject.create(byteSize)) {
            MemorySegment region = NativeMemory.segment(object.map(), byteSize);
            try (RegionGuard regionGuard =
                    guard.protect(region.address(), byteSize, READ_WRITE).orElseThrow()) {
                object.truncate(truncate ? Posix.pageSize() : byteSize);
                nativeCopy(region);
                return regionGuard.broken();
            } finally {
                Posix.munmap(region.address(), byteSize);
            }
        }
    }

    private static MemorySegment map(String key) {
        try (Descriptor file = Posix.shmOpen(key, Posix.O_RDWR, 0)) {
            long byteSize = Posix.fstat(file).byteSize();
            return NativeMemory.segment(Posix.map(byteSize, READ_WRITE, Posix.MAP_SHARED, file, 0), byteSize);
        }
    }

    /** Tells the client that the object is mapped, and waits until it has done its deed. */
    private static void awaitClient() throws IOException {
        System.out.println("mapped");
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
    }

    private static MemorySegment nativeCopy(MemorySegment source) {
        MemorySegment target = Arena.ofAuto().allocate(source.byteSize());
        try {
            MemorySegment copied = (MemorySegment) MEMCPY.invokeExact(target, source, source.byteSize());
            if (copied.address() != target.address()) {
                throw new IllegalStateException("memcpy returned " + copied);
            }
            return target;
        } catch (RuntimeException | Error e) {
            throw e;
        } catch (Throwable t) {
            throw new AssertionError("the handle of memcpy is wrong", t);
        }
    }
}
