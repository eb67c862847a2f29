package gatun.grpc.connection;

/** Why a stream or a connection ends, in HTTP/2's numbers: a constant's ordinal is its code on the wire. */
enum Http2Error {
    NO_ERROR,
    PROTOCOL_ERROR,
    INTERNAL_ERROR,
    FLOW_CONTROL_ERROR,
    SETTINGS_TIMEOUT,
    STREAM_CLOSED,
    FRAME_SIZE_ERROR,
    REFUSED_STREAM,
    CANCEL,
    COMPRESSION_ERROR,
    CONNECT_ERROR,
    ENHANCE_YOUR_CALM,
    INADEQUATE_SECURITY,
    HTTP_1_1_REQUIRED;

    /** The code on the wire. */
    int code() {
        return ordinal();
    }
}
