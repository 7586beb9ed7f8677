/** Says that a test cannot run here, and why, in the line that ci/test counts; gives the reason, for the option `skip`. */
export function skipped(reason: string): string {
  process.stderr.write(`SKIPPED: ${reason}\n`);
  return reason;
}
