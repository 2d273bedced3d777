// Preload: says so on stderr when the process ends itself by process.exit. The program does that only when an interrupted run has
// not ended by itself within two seconds, so a test notices what keeps a run alive, however slow the machine is.
import { writeSync } from 'node:fs'

const { exit } = process
process.exit = code => {
  writeSync(2, 'Ended by process.exit.\n')
  return exit(code)
}
