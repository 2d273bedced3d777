import { readFileSync } from 'node:fs'

/** The peak memory (resident set) of a running process so far, bytes. */
export function peakMemory(pid = 0): number {
  const [, peak] = /VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(peak) * 1024
}

/** The time of the processor that a running process took so far, ms in steps of 10: other programs do not count. */
export function processorMs(pid = 0): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
