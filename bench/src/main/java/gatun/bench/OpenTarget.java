// SPDX-License-Identifier: Apache-2.0
package gatun.bench;

import gatun.bench.data.DataSet;
import gatun.bench.data.ModelDescription;
import gatun.bench.data.Step;
import gatun.bench.endpoint.LoadTransport;
import gatun.bench.endpoint.TargetException;
import gatun.bench.endpoint.TensorFlowTarget;
import gatun.bench.endpoint.V2Models;
import gatun.bench.endpoint.V2Target;
import gatun.bench.load.Target;
import gatun.client.ClientException;
import gatun.client.GatunClient;
import gatun.client.ServerMetadata;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A server that is ready for load, and the data that is sent to it. Owns both.
 *
 * @param target the server
 * @param data the data that is sent
 * @param batch how many inferences a request has
 * @param server the server's name for itself; empty where it does not tell
 */
record OpenTarget(Target target, DataSet data, long batch, Optional<String> server) implements AutoCloseable {
    /** Connects to {@code endpoint}, asks for the model's description, and gets the data ready. */
    static OpenTarget open(BenchCommand flags, EmbeddedModels embedded, TargetServer endpoint) {
        return switch (flags.connection.protocol) {
            case V2 -> v2(flags, client(flags, embedded, endpoint), endpoint);
            case TENSORFLOW -> tensorFlow(flags, endpoint);
        };
    }

    @Override
    public void close() {
        target.close();
        data.close();
    }

    private static OpenTarget v2(BenchCommand flags, GatunClient client, TargetServer endpoint) {
        DataSet data = null;
        try {
            ModelDescription model = V2Models.describe(client, flags.model, flags.version);
            data = flags.data.plan(flags.load.seed).open(model);
            Target target =
                    V2Target.open(client, endpoint.transport(), model, flags.version, data, flags.data.inSequences());
            return new OpenTarget(target, data, batch(model, data), server(client));
        } catch (RuntimeException | Error e) {
            client.close();
            close(data);
            throw e;
        }
    }

    private static OpenTarget tensorFlow(BenchCommand flags, TargetServer endpoint) {
        if (flags.data.inSequences()) {
            throw new TargetException("TensorFlow Serving has no sequences: leave --sequence-length away");
        }
        TensorFlowTarget.Connection connection = TensorFlowTarget.connect(
                flags.connection.options(endpoint.url()),
                endpoint.transport(),
                flags.model,
                flags.version,
                flags.connection.signature);
        DataSet data = null;
        try {
            ModelDescription model = connection.describe();
            data = flags.data.plan(flags.load.seed).open(model);
            return new OpenTarget(connection.target(data), data, batch(model, data), Optional.empty());
        } catch (RuntimeException | Error e) {
            connection.close();
            close(data);
            throw e;
        }
    }

    private static GatunClient client(BenchCommand flags, EmbeddedModels embedded, TargetServer endpoint) {
        if (endpoint.transport().wire() == LoadTransport.Wire.EMBEDDED) {
            return embedded.open(flags.connection.embedded.orElseThrow());
        }
        boolean json = endpoint.transport().wire() == LoadTransport.Wire.HTTP_JSON;
        return GatunClient.connect(flags.connection.options(endpoint.url()).withBinaryTensors(!json));
    }

    private static Optional<String> server(GatunClient client) {
        try {
            ServerMetadata metadata = client.server().metadata();
            return Optional.of(metadata.name() + " " + metadata.version());
        } catch (ClientException e) {
            return Optional.empty();
        }
    }

    private static long batch(ModelDescription model, DataSet data) {
        Step first = data.step(0);
        return model.batched() && !first.inputs().isEmpty()
                ? first.inputs().getFirst().spec().shape().dim(0)
                : 1;
    }

    private static void close(@Nullable DataSet data) {
        if (data != null) {
            data.close();
        }
    }
}
