import { readFileSync } from 'node:fs'

/** The peak memory (resident set) of a running process so far, bytes. */
export function peakMemory(pid: number): number {
  const [, peak] = /VmHWM:\s*(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
  return Number(peak) * 1024
}
