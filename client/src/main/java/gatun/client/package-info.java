/** The client: requests, responses, shared tensors, and control of a server. */
@org.jspecify.annotations.NullMarked
package gatun.client;
