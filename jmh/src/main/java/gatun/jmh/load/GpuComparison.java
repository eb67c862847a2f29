// SPDX-License-Identifier: Apache-2.0
package gatun.jmh.load;

import com.google.protobuf.ByteString;
import gatun.bindings.cuda.cuda_h;
import gatun.memory.cuda.CudaAllocation;
import gatun.memory.cuda.CudaDevice;
import gatun.memory.cuda.CudaDevices;
import gatun.memory.regions.SharedMemoryObject;
import gatun.wire.inference.CudaSharedMemoryRegisterRequest;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.GRPCInferenceServiceGrpc.GRPCInferenceServiceBlockingStub;
import gatun.wire.inference.InferStatistics;
import gatun.wire.inference.ModelStatisticsRequest;
import gatun.wire.inference.StatisticDuration;
import gatun.wire.inference.SystemSharedMemoryRegisterRequest;
import io.grpc.ManagedChannel;
import io.grpc.netty.shaded.io.grpc.netty.NettyChannelBuilder;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;

/**
 * The cost of the way to a GPU, as a page in Markdown: an inference whose tensors are in a CUDA region beside the same
 * in system shared memory and in the message, the server's own part of it, and the bandwidth of copies. The model's
 * kernel does the same work whatever the tensor's size is. Argument: seconds for each measurement (default 5).
 */
public final class GpuComparison {
    private static final String INFER = "inference.GRPCInferenceService/ModelInfer";
    private static final int[] SIZES = {4 << 10, 1 << 20, 256 << 20};
    private static final int STAGED = 64 << 20;
    private static final double WARM_SECONDS = 2;
    /** Until the server's code is compiled. */
    private static final double FIRST_WARM_SECONDS = 8;

    private static final int KERNEL_TIMES = 2000;
    private static final long MARGIN = 64L << 20;

    private final CudaDevice device;
    private final Path ptx;
    private final double seconds;

    private GpuComparison(CudaDevice device, Path ptx, double seconds) {
        this.device = device;
        this.ptx = ptx;
        this.seconds = seconds;
    }

    /** Measures on GPU 0 and prints the page; ends with 1 where there is none. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        CudaDevices devices = CudaDevices.find();
        if (devices.count() == 0) {
            System.err.println(devices.absence());
            System.exit(1);
        }
        double seconds = arguments.length > 0 ? Double.parseDouble(arguments[0]) : 5;
        Path root = Path.of(System.getProperty("gatun.root", "."));
        CudaDevice device = devices.all().getFirst();
        device.makeCurrent();
        new GpuComparison(device, root.resolve("examples/kernels/probe.ptx"), seconds).run();
    }

    private void run() throws IOException, InterruptedException {
        describe();
        long largest = SIZES[SIZES.length - 1];
        device.pool().limit(2L * STAGED + MARGIN);
        try (GpuServer server = GpuServer.start(ptx, 2 * largest + MARGIN);
                CudaAllocation region = CudaAllocation.of(device, 2 * largest);
                SharedMemoryObject object = SharedMemoryObject.posix(
                        "/gatun-gpu-" + ProcessHandle.current().pid(), 2 * largest)) {
            ManagedChannel channel = NettyChannelBuilder.forAddress("127.0.0.1", server.grpcPort())
                    .usePlaintext()
                    .build();
            try {
                compare(server, GRPCInferenceServiceGrpc.newBlockingStub(channel), region, object);
            } finally {
                channel.shutdownNow();
            }
        }
        GpuStaging.Result staging = GpuStaging.measure(device, STAGED);
        System.out.printf(
                Locale.ROOT,
                "%n## Copies%n%nPinned host memory to the GPU and back, %d MiB each way.%n%n"
                        + "| way | GB/s |%n|---|---|%n| two plain `cuMemcpyAsync` | %.1f |%n| the way of a run |"
                        + " %.1f |%n%n"
                        + "The way of a run reaches %.0f %% (goal: at least 95 %%).%n",
                STAGED >> 20,
                staging.plain() / 1e9,
                staging.transfers() / 1e9,
                100 * staging.transfers() / staging.plain());
    }

    private void describe() {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment version = arena.allocate(cuda_h.C_INT);
            device.check(cuda_h.cuDriverGetVersion(version), "cuDriverGetVersion");
            int driver = version.get(cuda_h.C_INT, 0);
            System.out.printf(
                    Locale.ROOT,
                    "## Device%n%n%s, compute capability %d.%d, %d MiB; driver for CUDA %d.%d; Java %s, %d"
                            + " processors.%n",
                    device.name(),
                    device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR()),
                    device.attribute(cuda_h.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR()),
                    device.totalBytes() >> 20,
                    driver / 1000,
                    driver % 1000 / 10,
                    Runtime.version(),
                    Runtime.getRuntime().availableProcessors());
        }
    }

    private void compare(
            GpuServer server, GRPCInferenceServiceBlockingStub client, CudaAllocation region, SharedMemoryObject object)
            throws IOException {
        client.cudaSharedMemoryRegister(CudaSharedMemoryRegisterRequest.newBuilder()
                .setName("cuda")
                .setRawHandle(ByteString.copyFrom(region.handle()))
                .setDeviceId(device.ordinal())
                .setByteSize(region.memory().byteSize())
                .build());
        client.systemSharedMemoryRegister(SystemSharedMemoryRegisterRequest.newBuilder()
                .setName("system")
                .setKey(object.key())
                .setByteSize(object.segment().byteSize())
                .build());
        verify(server, region);
        measure(server, Requests.grpcRegion(GpuServer.MODEL, "cuda", SIZES[0]), FIRST_WARM_SECONDS, WARM_SECONDS);
        System.out.printf(
                "%n## An inference by where its tensors are%n%nOne gRPC client, the answer in the same place; p50"
                        + " and p99 in"
                        + " microseconds. The kernel does the same for each.%n%n"
                        + "| tensor | CUDA region | p99 | system shared memory | p99 | in the message | p99 |%n"
                        + "|---|---|---|---|---|---|---|%n");
        double[] medians = new double[SIZES.length];
        StatisticsMeans smallest = null;
        for (int i = 0; i < SIZES.length; i++) {
            int size = SIZES[i];
            InferStatistics before = statistics(client);
            LoadedServer.Result cuda = measure(server, Requests.grpcRegion(GpuServer.MODEL, "cuda", size));
            InferStatistics after = statistics(client);
            LoadedServer.Result system = measure(server, Requests.grpcRegion(GpuServer.MODEL, "system", size));
            LoadedServer.Result bytes = measure(server, Requests.grpcLarge(GpuServer.MODEL, size));
            medians[i] = cuda.percentileMicros(50);
            if (i == 0) {
                smallest = new StatisticsMeans(before, after);
            }
            System.out.printf(
                    Locale.ROOT,
                    "| %s | %.0f | %.0f | %.0f | %.0f | %.0f | %.0f |%n",
                    size >= 1 << 20 ? (size >> 20) + " MiB" : (size >> 10) + " KiB",
                    cuda.percentileMicros(50),
                    cuda.percentileMicros(99),
                    system.percentileMicros(50),
                    system.percentileMicros(99),
                    bytes.percentileMicros(50),
                    bytes.percentileMicros(99));
        }
        System.out.printf(
                Locale.ROOT,
                "%nIn a CUDA region 256 MiB take %.2f times as long as 4 KiB (goal: the same).%n",
                medians[SIZES.length - 1] / medians[0]);
        overhead(region, Objects.requireNonNull(smallest));
    }

    private void overhead(CudaAllocation region, StatisticsMeans means) throws IOException {
        double completion = means.nanos(InferStatistics::getSuccess);
        long half = region.memory().byteSize() / 2;
        try (GpuKernel kernel = new GpuKernel(
                device, ptx, region.memory().slice(0, half), region.memory().slice(half, half))) {
            kernel.launchAndWait(KERNEL_TIMES);
            long alone = kernel.launchAndWait(KERNEL_TIMES);
            long onDevice = kernel.onDevice(KERNEL_TIMES);
            System.out.printf(
                    Locale.ROOT,
                    "%n## The bridge's own part%n%n| 4 KiB in a CUDA region | microseconds |%n|---|---|%n"
                            + "| in the server, from submitting the request to its completion (mean) | %.1f |%n"
                            + "| of it in the queue, until its instance has it | %.1f |%n"
                            + "| of it on the instance, with the kernel | %.1f |%n"
                            + "| the kernel, as the device measures it | %.1f |%n"
                            + "| the kernel, launched and waited for by a plain loop | %.1f |%n%n"
                            + "The server adds %.1f us to the kernel (goal: under 15), of which the plain loop has"
                            + " %.1f too.%n",
                    completion / 1e3,
                    means.nanos(InferStatistics::getQueue) / 1e3,
                    (means.nanos(InferStatistics::getComputeInput)
                                    + means.nanos(InferStatistics::getComputeInfer)
                                    + means.nanos(InferStatistics::getComputeOutput))
                            / 1e3,
                    onDevice / 1e3,
                    alone / 1e3,
                    (completion - onDevice) / 1e3,
                    (alone - onDevice) / 1e3);
        }
    }

    private LoadedServer.Result measure(GpuServer server, byte[] request) {
        return measure(server, request, WARM_SECONDS, seconds);
    }

    private static LoadedServer.Result measure(GpuServer server, byte[] request, double warmSeconds, double seconds) {
        return server.underLoad()
                .measure(
                        new PreparedTarget(() -> new GrpcExchange(server.grpcPort(), INFER, request)),
                        1,
                        warmSeconds,
                        seconds);
    }

    /** Means of what a server's statistics tell, over the requests between two moments. */
    private record StatisticsMeans(InferStatistics before, InferStatistics after) {
        double nanos(Function<InferStatistics, StatisticDuration> part) {
            StatisticDuration from = part.apply(before);
            StatisticDuration to = part.apply(after);
            return (to.getNs() - from.getNs()) / (double) (to.getCount() - from.getCount());
        }
    }

    private static InferStatistics statistics(GRPCInferenceServiceBlockingStub client) {
        return client.modelStatistics(ModelStatisticsRequest.newBuilder()
                        .setName(GpuServer.MODEL)
                        .build())
                .getModelStats(0)
                .getInferenceStats();
    }

    /** Whether the model does what is measured: its output is the beginning of its input. */
    private static void verify(GpuServer server, CudaAllocation region) {
        int size = GpuServer.COPIED_BYTES;
        try (Arena arena = Arena.ofConfined();
                Exchange exchange = new GrpcExchange(
                        server.grpcPort(), INFER, Requests.grpcRegion(GpuServer.MODEL, "cuda", size))) {
            MemorySegment question = arena.allocate(size).fill((byte) 42);
            region.write(0, question);
            exchange.call();
            MemorySegment answer = arena.allocate(size);
            region.read(size, answer);
            if (answer.mismatch(question) >= 0) {
                throw new IllegalStateException("the model answered with something else than it was asked");
            }
        }
    }
}
