#!/usr/bin/env node
/** The oldest release that has what the commands need. */
const OLDEST = [22, 12] as const;

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])) {
  const wanted = OLDEST.join('.');
  process.stderr.write(
    `error: USAGE: apomesh needs Node.js ${wanted} or newer, and this is ${process.versions.node}; install a newer one.\n`,
  );
  process.exitCode = 2;
} else {
  const { main } = await import('./program.ts');
  await main(process.argv.slice(2));
}
