// Preload: writes the most memory that this process ever held (VmHWM, kB) into KLINES_TEST_MEMORY when it ends.
import { readFileSync, writeFileSync } from 'node:fs'

process.on('exit', () => {
  const [, most] = /VmHWM:\s*(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8')) ?? []
  if (most !== undefined) writeFileSync(process.env.KLINES_TEST_MEMORY, most)
})
