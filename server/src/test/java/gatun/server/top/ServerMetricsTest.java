// SPDX-License-Identifier: Apache-2.0
package gatun.server.top;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What is read of pages of metrics. */
class ServerMetricsTest {
    @Test
    void shouldReadWhatServersTell() {
        ServerMetrics metrics = ServerMetrics.parse("""
                # HELP nv_inference_pending_request_count Instantaneous number of pending requests
                # TYPE nv_inference_pending_request_count gauge
                nv_inference_pending_request_count{model="a \\"b\\"",version="1"} 3.000000
                nv_inference_request_summary_us{model="m",version="2",quantile="0.5"} 120
                nv_inference_request_summary_us{model="m",version="2",quantile="0.99"} NaN
                nv_inference_request_summary_us_count{model="m",version="2"} 7
                nv_gpu_utilization{gpu_uuid="GPU-1"} 0.25
                nv_gpu_memory_used_bytes{gpu_uuid="GPU-1"} 1073741824
                process_resident_memory_bytes 1.5e8
                gatun_buffer_pool_used_bytes 0
                """);
        Sample.Key quoted = new Sample.Key("a \"b\"", "1");
        Sample.Key summary = new Sample.Key("m", "2");
        assertThat(metrics.queue(quoted)).hasValue(3);
        assertThat(metrics.queue(summary)).isEmpty();
        assertThat(metrics.quantile(summary, "0.5")).hasValue(120);
        assertThat(metrics.quantile(summary, "0.99")).isEmpty();
        assertThat(metrics.gpus()).containsExactly(new ServerMetrics.Gpu(0.25, 1 << 30));
        assertThat(metrics.memory()).hasValue(150_000_000);
        assertThat(metrics.buffers()).hasValue(0);
    }

    @Test
    void shouldSkipWhatIsNoPageOfMetrics() {
        ServerMetrics metrics =
                ServerMetrics.parse("<html>{\n{} 1\nnv_gpu_utilization\nnv_gpu_utilization x\n" + "a{".repeat(10_000));
        assertThat(metrics).isEqualTo(ServerMetrics.NONE);
    }
}
