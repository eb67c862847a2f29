// SPDX-License-Identifier: Apache-2.0
package gatun.client.balancing;

import gatun.client.ClientOptions;
import gatun.client.InferRequest;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the fit server with the fewest requests, by chance among equals. A sequence stays with the server of its
 * first request, which alone knows its state. Owns the servers' clients. Thread-safe.
 */
final class Members implements AutoCloseable {
    /** How many running sequences are remembered; those beyond go where their number leads. */
    private static final int SEQUENCES = 65_536;

    private final List<Member> all;
    private final ConcurrentMap<Object, Member> sequences = new ConcurrentHashMap<>();

    Members(ClientOptions options) {
        all = options.servers().stream()
                .map(server -> new Member(server, options))
                .toList();
    }

    List<Member> all() {
        return all;
    }

    /** Null when all fit ones were tried; the least busy of all where none was tried and none is fit. */
    @Nullable
    Member leastBusy(Collection<Member> tried) {
        Member fit = leastBusy(tried, true);
        return fit == null && tried.isEmpty() ? leastBusy(tried, false) : fit;
    }

    private @Nullable Member leastBusy(Collection<Member> tried, boolean onlyFit) {
        Member best = null;
        int first = ThreadLocalRandom.current().nextInt(all.size());
        for (int i = 0; i < all.size(); i++) {
            Member member = all.get((first + i) % all.size());
            if ((!onlyFit || member.isFit())
                    && !tried.contains(member)
                    && (best == null || member.underWay() < best.underWay())) {
                best = member;
            }
        }
        return best;
    }

    /** The server of a sequence's request; remembers it from the first request to the last. */
    Member ofSequence(InferRequest request) {
        Object number = Objects.requireNonNullElse(request.parameters().get("sequence_id"), 0L);
        if (Boolean.TRUE.equals(request.parameters().get("sequence_start")) && sequences.size() < SEQUENCES) {
            sequences.put(number, Objects.requireNonNull(leastBusy(List.of()), "there is at least one server"));
        }
        Member place = Boolean.TRUE.equals(request.parameters().get("sequence_end"))
                ? sequences.remove(number)
                : sequences.get(number);
        return place != null ? place : all.get(Math.floorMod(number.hashCode(), all.size()));
    }

    @Override
    public void close() {
        all.forEach(Member::close);
    }
}
