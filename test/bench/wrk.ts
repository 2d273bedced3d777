import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { Measured } from './row.js'
import { environment } from './timed-run.js'

/** What wrk requests: a server, and paths in turn. `script` is where the script for wrk is written. */
export interface WrkRequests {
  readonly url: string
  readonly paths: readonly string[]
  readonly script: string
}

/** Requests the paths in turn over 32 connections for `seconds`. Returns requests per second, and latencies in ms. */
export async function runWrk({ url, paths, script }: WrkRequests, seconds = 2): Promise<Measured> {
  writeFileSync(script, requestScript(paths))
  const args = ['-t1', '-c32', `-d${seconds}s`, '--latency', '-s', script, url]
  const { stdout } = await promisify(execFile)('wrk', args, { env: environment() })
  if (/Non-2xx/.test(stdout)) throw new Error(`Not every response of ${url} had status 200:\n${stdout}`)
  const [, value] = /Requests\/sec:\s+([\d.]+)/.exec(stdout) ?? []
  return { value: Number(value), detail: { p50Ms: percentile(stdout, 50), p99Ms: percentile(stdout, 99) } }
}

/** Lua that makes all requests beforehand, so that wrk only picks the next one. */
function requestScript(paths: readonly string[]): string {
  return `local paths = {${paths.map(path => JSON.stringify(path)).join(', ')}}
local requests, index = {}, 0
function init() for i, path in ipairs(paths) do requests[i] = wrk.format("GET", path) end end
function request() index = index % #requests + 1 return requests[index] end
`
}

function percentile(stdout: string, share: number): number {
  const [, value, unit] = new RegExp(`^ +${share}% +([\\d.]+)(us|ms|s)$`, 'm').exec(stdout) ?? []
  return Number(value) * ({ us: 0.001, ms: 1, s: 1000 }[unit] ?? Number.NaN)
}
