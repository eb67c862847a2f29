// SPDX-License-Identifier: Apache-2.0
package gatun.it.structure.toy;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import gatun.http.connection.Exchange;
import gatun.http.connection.ResponseHeaders;
import gatun.http.routes.PathValues;
import gatun.http.routes.PathValues.RouteConventions.StandardConventions;
import gatun.http.routes.RouteTable;
import gatun.http.routes.RouteTable.Route;
import gatun.memory.buffers.Buffer;
import gatun.memory.tensor.Datatype;
import gatun.memory.tensor.Shape;
import gatun.memory.tensor.Tensor;
import gatun.memory.tensor.TensorSpec;
import gatun.protocol.Endpoint;
import gatun.protocol.Endpoint.Audience;
import gatun.protocol.Endpoint.Kind;
import gatun.protocol.Endpoint.Transport;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.Section;
import gatun.protocol.flags.FlagType;
import gatun.runtime.InferenceRequest;
import gatun.runtime.InferenceResponse;
import gatun.runtime.Origin;
import gatun.runtime.access.ApiGroup;
import gatun.runtime.server.InferenceServer;
import java.util.List;
import java.util.Optional;

/** A protocol of a test's own, in a jar that the server does not know: {@code /v1/toy/37} adds a number to 37. */
public final class ToyProtocolProvider implements ProtocolProvider {
    private static final Kind PORT = new Kind("toy", "Toy", Transport.HTTP, "/v1/toy", Audience.CLIENTS, false, false);
    private static final Origin ORIGIN = new Origin(1000, "toy", "http");
    private static final ResponseHeaders JSON =
            ResponseHeaders.of(ResponseHeaders.constant("Content-Type: application/json"));
    private static final int ELEMENTS = 16;

    private final FlagGroup flags = new FlagGroup();
    private final Flag<Optional<Integer>> port =
            flags.optional("--toy-port", FlagType.PORT, "A port for the toy alone; 0 for any free port.");
    private final Flag<Integer> addend = flags.flag(
            "--toy-addend", FlagType.whole("N", 0, 1000, "a number from 0 to 1000"), 1, "The number that is added.");

    /** For {@link java.util.ServiceLoader}. */
    public ToyProtocolProvider() {}

    @Override
    public int precedence() {
        return 1000;
    }

    @Override
    public List<Section> flags() {
        return List.of(new Section("Toy protocol", "Console", flags));
    }

    @Override
    public List<Endpoint> ports(CommonAddresses common) {
        return port.value().map(number -> Endpoint.onPort(PORT, common.http(), number)).stream()
                .toList();
    }

    @Override
    public Optional<Protocol> create(ProtocolContext context) {
        RouteTable table = new RouteTable(
                "/v1/toy",
                List.of(Route.get(
                        "/v1/toy/{number}",
                        ApiGroup.INFERENCE,
                        "Adds",
                        (exchange, path) -> add(context.server(), exchange, path))),
                context.settings().http().access(),
                StandardConventions.INSTANCE);
        return Optional.of(() -> table);
    }

    private void add(InferenceServer server, Exchange exchange, PathValues path) {
        InferenceRequest request = new InferenceRequest(server.model("simple", ""));
        request.origin(ORIGIN);
        addInput(server, request, "INPUT0", Integer.parseInt(path.value("number")));
        addInput(server, request, "INPUT1", addend.value());
        try (InferenceResponse response = server.infer(request)) {
            int sum = response.outputs().getFirst().tensor().bytes().getAtIndex(JAVA_INT, 0);
            exchange.answer(JSON, exchange.json(JSON).raw("{\"sum\":" + sum + "}"));
        }
    }

    private static void addInput(InferenceServer server, InferenceRequest request, String name, int value) {
        Buffer buffer = server.buffers().take(ELEMENTS * (long) Integer.BYTES);
        request.hold(buffer);
        for (int i = 0; i < ELEMENTS; i++) {
            buffer.segment().setAtIndex(JAVA_INT, i, value);
        }
        request.addInput(new Tensor(new TensorSpec(name, Datatype.INT32, Shape.of(1, ELEMENTS)), buffer.segment()));
    }
}
