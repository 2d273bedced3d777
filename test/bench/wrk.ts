import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Measured } from './row.js'
import { environment } from './timed-run.js'

/** Requests one address repeatedly over 32 connections for `seconds`. Returns requests per second, and latencies in ms. */
export async function runWrk(url: string, seconds = 2): Promise<Measured> {
  const args = ['-t1', '-c32', `-d${seconds}s`, '--latency', url]
  const { stdout } = await promisify(execFile)('wrk', args, { env: environment() })
  if (/Non-2xx/.test(stdout)) throw new Error(`Not every response of ${url} had status 200:\n${stdout}`)
  const [, value] = /Requests\/sec:\s+([\d.]+)/.exec(stdout) ?? []
  return { value: Number(value), detail: { p50Ms: percentile(stdout, 50), p99Ms: percentile(stdout, 99) } }
}

function percentile(stdout: string, share: number): number {
  const [, value, unit] = new RegExp(`^ +${share}% +([\\d.]+)(us|ms|s)$`, 'm').exec(stdout) ?? []
  return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN)
}
