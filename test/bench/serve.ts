import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { Pool } from 'undici'
import { realTree } from '../support/oracles/real-tree.js'
import { environment, PROJECT } from './programs.js'
import { table } from './table.js'

const SECONDS = 30
const CONNECTIONS = 50
/** A year of 1h of the real slice. */
const EXPORT = '/export/1h/BTCUSDT.csv?from=2024&to=2025'

/** Sends a small request each 100 ms over one connection, and posts how long each one took, ms; Infinity for one that failed. */
const ASK = `
const { parentPort, workerData: { url, seconds } } = require('node:worker_threads')
const { Agent, get } = require('node:http')
const agent = new Agent({ keepAlive: true })
const pending = []
const ask = () => new Promise(resolve => {
  const started = performance.now()
  get(url, { agent }, response => response.resume().on('end', () => resolve(performance.now() - started)))
    .on('error', () => resolve(Infinity))
})
const timer = setInterval(() => pending.push(ask()), 100)
setTimeout(async () => {
  clearInterval(timer)
  parentPort.postMessage(await Promise.all(pending))
}, 1000 * seconds)
`

/** 50 clients that repeat an export for half a minute, and one that sends small requests beside them. Returns a table. */
export async function measureServer(): Promise<string> {
  const args = [join(PROJECT, 'bin/run.js'), 'serve', '--port', '0', '--json', '--mirror', realTree()]
  const child = spawn(process.execPath, args, { env: environment(), stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  for await (const chunk of child.stdout) {
    text += chunk
    if (text.includes('"url"')) break
  }
  const [, url = ''] = /"url": ?"([^"]+)"/.exec(text) ?? []
  // In a thread of its own: what the other clients make this one wait is not the server's time.
  const workerData = { url: `${url}/api/klines/symbols.json`, seconds: SECONDS }
  const asked = once(new Worker(ASK, { eval: true, workerData }), 'message')
  const exports = await repeatExport(url)
  const [small] = (await asked) as [number[]]
  const [, peak] = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8')) ?? []
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
  const line = (title: string, times: number[]) => [
    title,
    ...[times.length, percentile(times, 50), percentile(times, 99)].map(value => value.toFixed(0)),
  ]
  const lines = [line('symbols.json', small), line('a year of 1h as CSV', exports)]
  const memory = `Memory: ${((Number(peak) * 1024) / 1e6).toFixed(0)} MB`
  return `${table(['', 'requests', 'median, ms', '99 of 100, ms'], lines, [0])}\n\n${memory}`
}

/** How long each request of the clients took, ms. Throws unless every response is whole. */
async function repeatExport(url: string): Promise<number[]> {
  const pool = new Pool(url, { connections: CONNECTIONS, bodyTimeout: 0, headersTimeout: 0 })
  const times: number[] = []
  const end = performance.now() + 1000 * SECONDS
  const repeat = async () => {
    while (performance.now() < end) {
      const started = performance.now()
      const { statusCode, body } = await pool.request({ method: 'GET', path: EXPORT })
      await body.dump({ limit: Number.MAX_SAFE_INTEGER })
      if (statusCode !== 200) throw new Error(`The server answers ${statusCode}`)
      times.push(performance.now() - started)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, repeat))
  await pool.close()
  return times
}

function percentile(times: number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * share) / 100))] ?? Number.NaN
}
