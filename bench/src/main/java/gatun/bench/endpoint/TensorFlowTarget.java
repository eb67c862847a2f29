// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.DataSet;
import gatun.bench.data.ModelDescription;
import gatun.bench.load.Caller;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.Target;
import gatun.client.ClientOptions;
import gatun.client.ServerAddress;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.TensorSpec;
import gatun.wire.tensorflow.DataType;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** A server of TensorFlow Serving, over REST or gRPC. Owns the connection. */
public final class TensorFlowTarget implements Target {
    private final TensorFlowServer server;
    private final DataSet data;
    private final List<TensorFlowServer.Prediction> predictions;

    private TensorFlowTarget(TensorFlowServer server, DataSet data) {
        this.server = server;
        this.data = data;
        this.predictions = server.predictions(data);
    }

    /** A connection before it is known what to send. Closed by the caller, unless a target was made of it. */
    public static final class Connection implements AutoCloseable {
        private final TensorFlowServer server;

        private Connection(TensorFlowServer server) {
            this.server = server;
        }

        /** The inputs and outputs of the signature. */
        public ModelDescription describe() {
            return server.describe();
        }

        /** The target that {@code data} is sent to, which owns the connection from now on. */
        public TensorFlowTarget target(DataSet data) {
            return new TensorFlowTarget(server, data);
        }

        @Override
        public void close() {
            server.close();
        }
    }

    /** Throws {@link TargetException} when TensorFlow Serving has no such transport or version. */
    public static Connection connect(
            ClientOptions options, LoadTransport transport, String model, String version, String signature) {
        boolean spoken =
                transport.wire() == LoadTransport.Wire.HTTP_JSON || transport.wire() == LoadTransport.Wire.GRPC;
        if (!spoken || transport.placement() != LoadTransport.Placement.SENT) {
            throw new TargetException(
                    "TensorFlow Serving speaks JSON over HTTP, and gRPC; it has no binary HTTP, no streams"
                            + " and no shared memory, and none is embedded: use http:// or grpc:// without"
                            + " --transport");
        }
        if (!version.isEmpty() && !version.matches("\\d{1,18}")) {
            throw new TargetException("version '" + version + "': expected a number, as TensorFlow Serving has them");
        }
        return new Connection(
                options.server().protocol() == ServerAddress.Protocol.HTTP
                        ? new TensorFlowRest(options, model, version, signature)
                        : new TensorFlowGrpc(options, model, version, signature));
    }

    @Override
    public Caller caller(int worker) {
        return new PredictCaller(worker);
    }

    @Override
    public Optional<ServerCounters> counters() {
        return Optional.empty();
    }

    @Override
    public void close() {
        server.close();
    }

    private final class PredictCaller implements Caller {
        private final StepCursor cursor;
        private int index;
        private TensorFlowServer.@Nullable Response response;
        private long tensorByteSize;

        private PredictCaller(int worker) {
            cursor = new StepCursor(data, worker, new AtomicLong());
        }

        @Override
        public void prepare() {
            index = cursor.next();
        }

        @Override
        public void call() {
            response = predictions.get(index).make();
        }

        @Override
        public String finish() {
            TensorFlowServer.Response came = response;
            if (came == null) {
                throw new IllegalStateException("call() comes before finish()");
            }
            response = null;
            cursor.answered();
            tensorByteSize = cursor.step().byteSize() + came.tensorByteSize();
            return came.differences();
        }

        @Override
        public long tensorByteSize() {
            return tensorByteSize;
        }

        @Override
        public void close() {}
    }

    /** TensorFlow's names of datatypes. */
    static final class TensorFlowDatatypes {
        private TensorFlowDatatypes() {}

        /** TensorFlow's datatype for {@code datatype}; DT_INVALID for those that the tool cannot send. */
        static DataType of(Datatype datatype) {
            return switch (datatype) {
                case BOOL -> DataType.DT_BOOL;
                case UINT8 -> DataType.DT_UINT8;
                case UINT16 -> DataType.DT_UINT16;
                case UINT32 -> DataType.DT_UINT32;
                case UINT64 -> DataType.DT_UINT64;
                case INT8 -> DataType.DT_INT8;
                case INT16 -> DataType.DT_INT16;
                case INT32 -> DataType.DT_INT32;
                case INT64 -> DataType.DT_INT64;
                case FP16 -> DataType.DT_HALF;
                case BF16 -> DataType.DT_BFLOAT16;
                case FP32 -> DataType.DT_FLOAT;
                case FP64 -> DataType.DT_DOUBLE;
                case BYTES -> DataType.DT_STRING;
                default -> DataType.DT_INVALID;
            };
        }

        /** The datatype of that name, such as {@code DT_FLOAT}; INVALID for those that the tool cannot send. */
        static Datatype of(String name) {
            for (Datatype datatype : Datatype.values()) {
                DataType own = of(datatype);
                if (own != DataType.DT_INVALID && own.name().equals(name)) {
                    return datatype;
                }
            }
            return Datatype.INVALID;
        }
    }

    /** Makes a model's description from a signature. */
    static final class TensorFlowModels {
        private TensorFlowModels() {}

        /** Throws {@link TargetException} when an input is of a datatype that cannot be sent. */
        static ModelDescription describe(String model, List<TensorSpec> inputs, List<TensorSpec> outputs) {
            for (TensorSpec input : inputs) {
                if (input.datatype() == Datatype.INVALID) {
                    throw new TargetException("input '" + input.name() + "' of model '" + model
                            + "' is of a datatype that cannot be sent: expected numbers, truth values or strings");
                }
            }
            // Signatures do not tell of batches: one whose inputs all begin with a variable dimension takes them.
            boolean batched = !inputs.isEmpty()
                    && inputs.stream()
                            .allMatch(input ->
                                    input.shape().rank() > 0 && input.shape().dim(0) == Shape.VARIABLE);
            return new ModelDescription(model, inputs, outputs, batched, false, List.of());
        }

        /** A model that the server does not know, in the server's words. */
        static TargetException refused(String address, String model, String said) {
            return new TargetException("the server at " + address + " does not serve model '" + model + "': " + said);
        }

        /** A signature that the model does not have. */
        static TargetException noSignature(String model, String signature, Object known) {
            return new TargetException(
                    "model '" + model + "' has no signature '" + signature + "': use --signature with one of " + known);
        }
    }
}
