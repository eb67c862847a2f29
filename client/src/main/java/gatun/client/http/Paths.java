// SPDX-License-Identifier: Apache-2.0
package gatun.client.http;

/** The paths of the v2 protocol. */
final class Paths {
    private Paths() {}

    /** Of a model, or of one of its versions unless that is empty. */
    static String model(String model, String version) {
        String path = "/v2/models/" + RequestHeads.encoded(model);
        return version.isEmpty() ? path : path + "/versions/" + RequestHeads.encoded(version);
    }

    /** Of a model in the server's repositories. */
    static String repository(String model) {
        return "/v2/repository/models/" + RequestHeads.encoded(model);
    }

    /** Of a region; {@code kind} is {@code system} or {@code cuda}. */
    static String region(String kind, String region) {
        return "/v2/" + kind + "sharedmemory/region/" + RequestHeads.encoded(region);
    }

    /** Of all regions. */
    static String regions(String kind) {
        return "/v2/" + kind + "sharedmemory";
    }
}
