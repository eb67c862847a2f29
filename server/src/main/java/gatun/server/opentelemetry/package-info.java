/** Traces as spans of OpenTelemetry, sent to a collector. Nothing of OpenTelemetry is loaded unless traces go there. */
@NullMarked
package gatun.server.opentelemetry;

import org.jspecify.annotations.NullMarked;
