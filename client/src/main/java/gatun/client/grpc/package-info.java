/** The client over gRPC: channels, calls, streams, and the messages whose tensors are not copied needlessly. */
@org.jspecify.annotations.NullMarked
package gatun.client.grpc;
