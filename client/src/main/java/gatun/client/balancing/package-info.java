/**
 * A client of several servers that serve the same models. {@link gatun.client.balancing.BalancedClient} makes a call,
 * {@link gatun.client.balancing.Members} says of which server, {@link gatun.client.balancing.Member} keeps how that server
 * does.
 */
@org.jspecify.annotations.NullMarked
package gatun.client.balancing;
