// Preload: writes the process's peak memory (VmHWM, kB) to the file KLINES_TEST_MEMORY when the process ends.
import { readFileSync, writeFileSync } from 'node:fs'

process.on('exit', () => {
  const [, peak] = /VmHWM:\s*(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  if (peak !== undefined) writeFileSync(process.env.KLINES_TEST_MEMORY, peak)
})
