/** Ends a run with its counts alone on the last line, after everything else, for machines that read the log. */
export default class CountsReporter {
  onRunComplete(_contexts, results) {
    const unrunnable = results.testResults.filter((file) => file.testExecError != null).length;
    const failed = results.numFailedTests + unrunnable;
    const skipped = results.numPendingTests + results.numTodoTests;
    process.once('exit', () => {
      process.stdout.write(`\n${results.numPassedTests} passed, ${failed} failed, ${skipped} skipped\n`);
    });
  }
}
