// SPDX-License-Identifier: Apache-2.0
package gatun.bench.endpoint;

import gatun.client.ServerAddress;
import java.util.Optional;

/** How requests travel, and where their tensors lie. */
public record LoadTransport(Wire wire, Placement placement) {
    /** The protocol and encoding of requests and responses. */
    public enum Wire {
        /** HTTP with tensors as bytes. */
        HTTP_BINARY,
        /** HTTP with tensors as JSON. */
        HTTP_JSON,
        /** gRPC, each request a call. */
        GRPC,
        /** gRPC, each worker's requests on a stream. */
        GRPC_STREAM,
        /** A lane: requests lie in shared memory, too. */
        LANE,
        /** None: the server is in this process. */
        EMBEDDED
    }

    /** Where tensors lie. */
    public enum Placement {
        /** They travel with requests and responses. */
        SENT,
        /** In a POSIX shared-memory object. */
        POSIX,
        /** In a sealed memfd. */
        SEALED,
        /** In the memory of a GPU. */
        CUDA
    }

    /**
     * Understands parts that are put together by a plus sign, such as {@code json} or {@code stream+sealed}, for a
     * server that speaks {@code protocol}; empty when that protocol does not have it.
     *
     * @throws IllegalArgumentException when it is no transport at all
     */
    public static Optional<LoadTransport> parse(String text, ServerAddress.Protocol protocol) {
        boolean lane = protocol == ServerAddress.Protocol.LANE;
        Wire wire =
                switch (protocol) {
                    case HTTP -> Wire.HTTP_BINARY;
                    case GRPC -> Wire.GRPC;
                    case LANE -> Wire.LANE;
                };
        Placement placement = lane ? Placement.SEALED : Placement.SENT;
        boolean possible = true;
        for (String part : text.split("\\+", -1)) {
            switch (part) {
                case "binary" -> possible &= !lane;
                case "lane" -> possible &= lane;
                case "json" -> {
                    possible &= protocol == ServerAddress.Protocol.HTTP;
                    wire = Wire.HTTP_JSON;
                }
                case "stream" -> {
                    possible &= protocol == ServerAddress.Protocol.GRPC;
                    wire = Wire.GRPC_STREAM;
                }
                case "posix" -> placement = Placement.POSIX;
                case "sealed" -> placement = Placement.SEALED;
                case "cuda" -> placement = Placement.CUDA;
                default ->
                    throw new IllegalArgumentException("'" + part
                            + "' is no transport: expected binary, json, stream or lane, and posix, sealed or cuda for"
                            + " shared memory,"
                            + " such as binary,json,sealed or stream+posix");
            }
        }
        return possible ? Optional.of(new LoadTransport(wire, placement)) : Optional.empty();
    }

    /** Its name in a table, for the server at {@code address}. */
    public String text(ServerAddress address) {
        String scheme = address.isUnix() ? "unix" : address.tls() ? "https" : "http";
        String words =
                switch (wire) {
                    case HTTP_BINARY -> scheme + " binary";
                    case HTTP_JSON -> scheme + " json";
                    case GRPC -> grpc(address);
                    case GRPC_STREAM -> grpc(address) + " stream";
                    case LANE -> "lane";
                    case EMBEDDED -> "embedded";
                };
        return switch (placement) {
            case SENT -> words;
            case POSIX -> words + " posix";
            case SEALED -> words + " sealed";
            case CUDA -> words + " cuda";
        };
    }

    private static String grpc(ServerAddress address) {
        return address.isUnix() ? "grpc+unix" : address.tls() ? "grpcs" : "grpc";
    }
}
