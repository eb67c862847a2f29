/** The output of the load tool: progress, table, JSON, CSV, plots. */
@org.jspecify.annotations.NullMarked
package gatun.bench.report;
