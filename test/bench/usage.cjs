// Preload: at the end of the process, writes its processor time (ms, of all threads) and its peak memory (kB) to file descriptor 3.
const { readFileSync, writeSync } = require('node:fs')

process.on('exit', () => {
  const { userCPUTime, systemCPUTime } = process.resourceUsage()
  // Not its maxRSS, which has the memory of the parent too, from before the program was loaded.
  const [, peak] = /VmHWM:\s*(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))
  // A thread has this preload too, and ends first: the last line counts.
  writeSync(3, `${(userCPUTime + systemCPUTime) / 1000} ${peak}\n`)
})
