// SPDX-License-Identifier: Apache-2.0
package gatun.it.embedded.war;

import gatun.client.ArrayTensors;
import gatun.client.InferResponse;
import gatun.embedded.Gatun;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A web application that serves models to itself: answers with the sum of two vectors of ones. */
public final class AddServlet extends HttpServlet {
    private static final long serialVersionUID = 1L;

    private transient @Nullable Gatun gatun;

    /** As a servlet container makes it. */
    public AddServlet() {}

    @Override
    public void init() {
        gatun = Gatun.embedded(Path.of(getServletConfig().getInitParameter("models")));
    }

    @Override
    public void destroy() {
        if (gatun != null) {
            gatun.close();
        }
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        int[] ones = new int[16];
        Arrays.fill(ones, 1);
        try (InferResponse answer = gatun.client()
                .infer("simple", ArrayTensors.of("INPUT0", ones, 1, 16), ArrayTensors.of("INPUT1", ones, 1, 16))) {
            response.setContentType("text/plain");
            response.getWriter().print(Arrays.toString(answer.ints("OUTPUT0")));
        }
    }
}
