// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.bench.data.DataSet;
import gatun.bench.data.ModelDescription;
import gatun.bench.load.Caller;
import gatun.bench.load.ServerCounters;
import gatun.bench.load.Target;
import gatun.client.ClientOptions;
import gatun.client.ServerAddress;
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

    /**
     * A connection to a server, before it is known what to send. The caller closes it, unless a target was made from
     * it.
     */
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

    /**
     * Connects with a server.
     *
     * @throws TargetException when the transport or the version is none of TensorFlow Serving's
     */
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
}
