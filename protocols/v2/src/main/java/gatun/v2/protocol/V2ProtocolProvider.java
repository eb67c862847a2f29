// SPDX-License-Identifier: Apache-2.0
package gatun.v2.protocol;

import gatun.grpc.ResponseCompression;
import gatun.protocol.Protocol;
import gatun.protocol.ProtocolProvider;
import gatun.protocol.flags.FlagGroup;
import gatun.protocol.flags.FlagGroup.Flag;
import gatun.protocol.flags.FlagGroup.Section;
import gatun.protocol.flags.FlagType;
import gatun.v2.lane.LaneSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Has the server speak v2, over lanes too. */
public final class V2ProtocolProvider implements ProtocolProvider {
    private static final FlagType<ResponseCompression> COMPRESSION = FlagType.choice(
            "LEVEL",
            "a level: none, low, medium or high",
            Map.of(
                    "none", ResponseCompression.NONE,
                    "low", ResponseCompression.LOW,
                    "medium", ResponseCompression.MEDIUM,
                    "high", ResponseCompression.HIGH));

    private final FlagGroup grpc = new FlagGroup();
    private final Flag<ResponseCompression> compression = grpc.flag(
            "--grpc-infer-response-compression-level",
            COMPRESSION,
            ResponseCompression.NONE,
            "How much inference responses are compressed for clients that take that: none, low, medium or high.");

    private final FlagGroup lanes = new FlagGroup();
    private final Flag<Integer> threads = lanes.flag(
            "--lane-threads",
            FlagType.whole(
                    "N", 1, LaneSettings.MAX_THREADS, "a number of threads from 1 to " + LaneSettings.MAX_THREADS),
            LaneSettings.STANDARD.threads(),
            "How many threads look for requests in clients' lanes; each serves up to 127 lanes. None is there before"
                    + " the first lane is.");
    private final Flag<Integer> spinMicros = lanes.flag(
            "--lane-spin-us",
            FlagType.whole(
                    "MICROSECONDS",
                    0,
                    LaneSettings.MAX_SPIN_MICROS,
                    "a number of microseconds from 0 to " + LaneSettings.MAX_SPIN_MICROS),
            LaneSettings.STANDARD.spinMicros(),
            "How long such a thread looks for the next request before it sleeps, where requests come faster than that"
                    + " from a client that spins; 0 for not at all. It takes a core while they do.");

    /** For {@link java.util.ServiceLoader}. */
    public V2ProtocolProvider() {}

    @Override
    public int precedence() {
        return 0;
    }

    @Override
    public List<Section> flags() {
        return List.of(new Section("gRPC", "", grpc), new Section("Lanes", "gRPC connections", lanes));
    }

    /** How much the responses of inferences are compressed over gRPC. */
    public ResponseCompression compression() {
        return compression.value();
    }

    /** How lanes are served. */
    public LaneSettings lanes() {
        return new LaneSettings(threads.value(), spinMicros.value());
    }

    @Override
    public Optional<Protocol> create(ProtocolContext context) {
        return Optional.of(new V2Protocol(context.server(), context.settings(), compression(), lanes()));
    }
}
