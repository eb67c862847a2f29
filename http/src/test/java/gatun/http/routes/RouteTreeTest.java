// SPDX-License-Identifier: Apache-2.0
package gatun.http.routes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import gatun.http.routes.RouteTable.Route;
import gatun.http.routes.RouteTable.Route.RouteHandler;
import gatun.http.routes.RouteTable.RouteTree;
import gatun.memory.tensor.ErrorCode;
import gatun.memory.tensor.GatunException;
import gatun.runtime.access.ApiGroup;
import io.helidon.http.Method;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The route that a path leads to, and the parts of the path that the route leaves open. */
class RouteTreeTest {
    private static final RouteHandler NOTHING = (exchange, path) -> {};

    private static final List<Route> ROUTES = List.of(
            Route.get("/v2/models/stats", ApiGroup.STATISTICS, "all", NOTHING),
            Route.get("/v2/models/{model}[/versions/{version:number}]", ApiGroup.METADATA, "model", NOTHING),
            Route.post("/v2/models/{model}[/versions/{version:number}]/infer", ApiGroup.INFERENCE, "infer", NOTHING),
            Route.post(
                    "/v1/models/{model:word}[/versions/{version:number}|/labels/{label:word}]:predict",
                    ApiGroup.INFERENCE,
                    "predict",
                    NOTHING),
            Route.post("/api/register/{region}//{key}/{size:number}", ApiGroup.SHARED_MEMORY, "register", NOTHING));

    private static RouteTree tree(boolean anyCase) {
        RouteTree tree = new RouteTree(anyCase);
        ROUTES.forEach(tree::add);
        return tree;
    }

    private static String found(RouteTree.@Nullable Match match, Method method) {
        if (match == null) {
            return "nothing";
        }
        RouteTree.Leaf leaf = match.leaf(method);
        if (leaf == null) {
            return "another method";
        }
        StringBuilder text = new StringBuilder(leaf.route().summary());
        for (String name : List.of("model", "version", "label", "region", "key", "size")) {
            String value = match.values(leaf).value(name);
            text.append(value.isEmpty() ? "" : " " + name + "=" + value);
        }
        return text.toString();
    }

    @ParameterizedTest
    @CsvSource({
        "GET, /v2/models/stats, all",
        "GET, /v2/models/m, model model=m",
        "GET, /v2/models/stats/versions/2, model model=stats version=2",
        "GET, /v2/models/m%2Fn, model model=m/n",
        "GET, /v2/models/m%2fversions%2f2, model model=m/versions/2",
        "GET, /v2/models/%2E%2e, model model=..",
        "GET, /v2/models/%73tats, model model=stats",
        "GET, /v2/models/a+b%2520%C3%BC%3cc%3e, model model=a+b%20ü<c>",
        "POST, /v2/models/m/infer, infer model=m",
        "POST, /v2/models/infer/infer, infer model=infer",
        "POST, /v2/models/m/versions/12/infer, infer model=m version=12",
        "POST, /v2/models/m, another method",
        "POST, /v1/models/m:predict, predict model=m",
        "POST, /v1/models/m/versions/3:predict, predict model=m version=3",
        "POST, /v1/models/m/labels/stable:predict, predict model=m label=stable",
        "POST, /v1/models/versions/versions/3:predict, predict model=versions version=3",
        "POST, /api/register/r//key/64, register region=r key=key size=64",
    })
    void shouldFindTheRouteAndWhatThePathLeavesOpen(String method, String path, String expected) {
        assertThat(found(tree(false).find(path), Method.create(method))).isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/",
                "/v2",
                "/v2/models",
                "/v2/models/",
                "/v2/models//infer",
                "/v2/models/m/",
                "/v2/models/m/infer/",
                "/v2/models/m/versions/infer",
                "/v2/models/m/versions//infer",
                "/v2/models/m/versions/1a/infer",
                "/v2/models/m/versions/%31/infer",
                "/v2/models/m/%69nfer",
                "/v2/models%2Fm",
                "/v2/models/m/versions/-1/infer",
                "/V2/models/m",
                "/v1/models/a:b:predict",
                "/v1/models/:predict",
                "/v1/models/m:predictx",
                "/v1/models/m/versions/3/labels/l:predict",
                "/api/register/r/key/64",
                "v2/models/m",
            })
    void shouldFindNothingForOtherPaths(String path) {
        assertThat(tree(false).find(path)).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"%", "a%", "a%2", "%zz", "%-1", "% 1", "%ff", "a%c3", "%ed%a0%80", "%c0%af"})
    void shouldRefusePartsThatAreNotEncodedAsTheyShouldBe(String part) {
        RouteTree.Match match = Objects.requireNonNull(tree(false).find("/v2/models/" + part));
        assertThatExceptionOfType(GatunException.class)
                .isThrownBy(() -> found(match, Method.GET))
                .withMessageStartingWith("'" + part + "' is not encoded as a part of a URL")
                .matches(failure -> failure.code() == ErrorCode.INVALID_ARGUMENT);
    }

    @Test
    void shouldIgnoreTheCaseOfLiteralsWhereItIsToldTo() {
        assertThat(found(tree(true).find("/V1/Models/M/VERSIONS/3:predict"), Method.POST))
                .isEqualTo("predict model=M version=3");
        assertThat(tree(true).find("/v1/models/m:PREDICT")).isNull();
    }

    @Test
    void shouldRefuseTwoRoutesForOnePathAndMethod() {
        RouteTree tree = tree(false);

        assertThatThrownBy(() -> tree.add(Route.get("/v2/models/{name}", ApiGroup.METADATA, "again", NOTHING)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("/v2/models/{name}");
    }

    @Test
    void shouldRefuseTwoGroupsForOnePath() {
        RouteTree tree = tree(false);

        assertThatThrownBy(() -> tree.add(Route.post("/v2/models/{model}", ApiGroup.INFERENCE, "other", NOTHING)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("two groups");
    }

    @ParameterizedTest
    @ValueSource(strings = {"v2", "/{a}{b}", "/{A}", "/{a:letters}", "/{a", "/{a}/{b}/{c}/{d}/{e}"})
    void shouldRefuseWhatIsNoPath(String path) {
        RouteTree tree = new RouteTree(false);

        assertThatThrownBy(() -> tree.add(Route.get(path, ApiGroup.METADATA, "none", NOTHING)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
