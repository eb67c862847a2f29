// SPDX-License-Identifier: Apache-2.0
package gatun.client.grpc;

import gatun.client.DeadlineException;
import gatun.client.ServerControl;
import gatun.client.ServerException;
import gatun.client.ServerMetadata;
import gatun.client.StatusCode;
import gatun.client.UnreachableException;
import gatun.wire.inference.GRPCInferenceServiceGrpc;
import gatun.wire.inference.ServerLiveRequest;
import gatun.wire.inference.ServerMetadataRequest;
import gatun.wire.inference.ServerMetadataResponse;
import gatun.wire.inference.ServerReadyRequest;
import java.util.function.BooleanSupplier;

/** A server's health and metadata over gRPC. */
final class GrpcServerControl implements ServerControl {
    private final UnaryCalls calls;

    GrpcServerControl(UnaryCalls calls) {
        this.calls = calls;
    }

    @Override
    public boolean live() {
        return answers(() -> calls.call(
                        GRPCInferenceServiceGrpc.getServerLiveMethod(),
                        ServerLiveRequest.getDefaultInstance(),
                        "whether the server is live")
                .getLive());
    }

    @Override
    public boolean ready() {
        return answers(() -> calls.call(
                        GRPCInferenceServiceGrpc.getServerReadyMethod(),
                        ServerReadyRequest.getDefaultInstance(),
                        "whether the server is ready")
                .getReady());
    }

    @Override
    public ServerMetadata metadata() {
        ServerMetadataResponse said = calls.call(
                GRPCInferenceServiceGrpc.getServerMetadataMethod(),
                ServerMetadataRequest.getDefaultInstance(),
                "the metadata");
        return new ServerMetadata(said.getName(), said.getVersion(), said.getExtensionsList());
    }

    /** A server that stops, or is not there, is neither live nor ready. */
    private static boolean answers(BooleanSupplier question) {
        try {
            return question.getAsBoolean();
        } catch (UnreachableException | DeadlineException e) {
            return false;
        } catch (ServerException e) {
            if (e.code() == StatusCode.UNAVAILABLE) {
                return false;
            }
            throw e;
        }
    }
}
