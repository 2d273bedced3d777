import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { Worker } from 'node:worker_threads'
import { Pool } from 'undici'
import { type Command, environment } from './timed-run.js'

const CONNECTIONS = 50
const SMALL_EVERY_MS = 100
/** A year of 1h of the real slice. */
const EXPORT = '/export/1h/BTCUSDT.csv?from=2024&to=2025'
const SMALL = '/api/klines/symbols.json'

/** Sends a request now and then over one connection, and posts how long each one took, ms; Infinity for one that failed. */
const ASK = `
const { parentPort, workerData: { url, everyMs, seconds } } = require('node:worker_threads')
const { Agent, get } = require('node:http')
const agent = new Agent({ keepAlive: true })
const pending = []
const ask = () => new Promise(resolve => {
  const started = performance.now()
  get(url, { agent }, response => response.resume().on('end', () => resolve(performance.now() - started)))
    .on('error', () => resolve(Infinity))
})
const timer = setInterval(() => pending.push(ask()), everyMs)
setTimeout(async () => {
  clearInterval(timer)
  parentPort.postMessage(await Promise.all(pending))
}, 1000 * seconds)
`

export type BesideExports = Awaited<ReturnType<typeof measureBesideExports>>

/**
 * 50 clients that repeat an export for some seconds, and one that sends a small request each 100 ms beside them. `path`: that of the n-th
 * export. Every response has to be whole.
 */
export async function measureBesideExports(
  serve: Command,
  seconds = 30,
  path: (count: number) => string = () => EXPORT,
) {
  const child = spawn(serve.program, serve.args, {
    cwd: tmpdir(),
    env: environment(serve.env),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  for await (const chunk of child.stdout) {
    text += chunk
    if (text.includes('"url"')) break
  }
  const [, url = ''] = /"url": ?"([^"]+)"/.exec(text) ?? []
  const exporting = new Pool(url, { connections: CONNECTIONS, bodyTimeout: 0, headersTimeout: 0 })
  const exports: number[] = []
  const others = { refused: 0, failed: 0 }
  let count = 0
  // In a thread of its own: what the other clients make this one wait is not the server's time.
  const asking = new Worker(ASK, { eval: true, workerData: { url: url + SMALL, everyMs: SMALL_EVERY_MS, seconds } })
  const asked = once(asking, 'message')
  const end = performance.now() + 1000 * seconds
  const repeat = async () => {
    while (performance.now() < end) {
      const started = performance.now()
      try {
        const { statusCode, body } = await exporting.request({ method: 'GET', path: path(count++) })
        for await (const _ of body);
        if (statusCode === 200) exports.push(performance.now() - started)
        else others.refused++
      } catch {
        others.failed++
      }
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, repeat))
  const [small]: [number[]] = (await asked) as [number[]]
  const [, peak = 'NaN'] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
  await exporting.destroy()
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
  return {
    smallP50Ms: percentile(small, 50),
    smallP99Ms: percentile(small, 99),
    exports: exports.length,
    exportP50Ms: percentile(exports, 50),
    exportP99Ms: percentile(exports, 99),
    ...others,
    peakMb: Number(peak) / 1000,
  }
}

function percentile(times: number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? Number.NaN
}
