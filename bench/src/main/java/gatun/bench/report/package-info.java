/** What is shown and written: progress, table, JSON, CSV, plots. */
@org.jspecify.annotations.NullMarked
package gatun.bench.report;
