import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { gunzipSync } from 'node:zlib'
import { type Dispatcher, Pool } from 'undici'
import { expect, it, onTestFinished } from 'vitest'
import { cases } from '../../support/cases.js'
import { builtScript } from '../../support/cli/built-script.js'
import { PROJECT } from '../../support/cli/cli-sandbox.js'
import { RawClient } from '../../support/servers/raw-client.js'
import { getWindow, makeWindow } from '../../support/servers/raw-requests.js'
import { startTestServer } from '../../support/servers/test-server.js'
import { candle, FULL_WEEKS, putFile, RENDERED, weekPath, windowBytes } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const READS = cases(10_000, 1_000)
const CONNECTIONS = 8
const PATH = weekPath('BTCUSDT', FULL_WEEKS[0])
const START = Date.parse(FULL_WEEKS[0])

/** Two versions of a window: rows, time and length all differ. */
const VERSIONS = [
  { count: 90, seed: 0, time: Date.UTC(2025, 0, 8, 3, 17) },
  { count: 37, seed: 5, time: Date.UTC(2025, 0, 9, 3, 17) },
].map(({ count, seed, time }) => ({
  bytes: windowBytes(Array.from({ length: count }, (_, index) => candle(START + index * 900_000, seed))),
  // Without an index, the close of the last candle.
  modified: new Date(START + count * 900_000).toUTCString(),
  time,
}))

type Fields = Dispatcher.ResponseData['headers']

/** Checks responses: each body has to be one of the versions, with the header fields of that version. */
class ResponseChecker {
  readonly faults: string[] = []
  /** How often each version was seen, in the order of `VERSIONS`. */
  readonly seen = [0, 0]
  /** Coding and version by tag, and coded bytes by coding and version, from the first response with them. */
  private readonly tags = new Map<string, string>()
  private readonly coded = new Map<string, Buffer>()

  check(status: number, headers: Fields, body: Buffer): void {
    const coding = String(headers['content-encoding'] ?? 'identity')
    const version = this.findVersion(coding, body)
    const [name, tag] = [`${coding} ${version}`, String(headers.etag)]
    const known = this.tags.get(tag) ?? name
    this.tags.set(tag, known)
    const isConsistent =
      status === 200 &&
      known === name &&
      headers['content-length'] === String(body.length) &&
      headers['last-modified'] === VERSIONS[version]?.modified
    if (isConsistent) this.seen[version]++
    else this.faults.push(`${status} ${body.length} bytes, ${name}, tag of ${known}: ${JSON.stringify(headers)}`)
  }

  /** The number of different tags. */
  get tagCount(): number {
    return this.tags.size
  }

  private findVersion(coding: string, body: Buffer): number {
    if (coding === 'identity') return VERSIONS.findIndex(({ bytes }) => bytes.equals(body))
    const known = VERSIONS.findIndex((_, version) => this.coded.get(`${coding} ${version}`)?.equals(body))
    if (known !== -1) return known
    const decoded = gunzipSync(body)
    const version = VERSIONS.findIndex(({ bytes }) => bytes.equals(decoded))
    this.coded.set(`${coding} ${version}`, body)
    return version
  }
}

it(`${READS} reads while another process replaces the window each return one whole version, and later reads the last one`, async () => {
  const [root, aside] = [tempFolder(), tempFolder()]
  VERSIONS.forEach(({ bytes, time }, index) => {
    putFile(aside, String(index), bytes, time)
  })
  putFile(root, PATH, VERSIONS[0].bytes, VERSIONS[0].time)
  const { url } = await startTestServer(root)
  const args = [await builtScript('swap-window.ts'), root, PATH, join(aside, '0'), join(aside, '1')]
  const writer = spawn(process.execPath, args, { cwd: PROJECT, stdio: ['pipe', 'pipe', 'inherit'] })
  onTestFinished(() => void writer.kill())
  const lines = createInterface(writer.stdout)
  let isOften = false
  lines.once('line', () => {
    isOften = true
  })

  const pool = new Pool(url, { connections: CONNECTIONS })
  onTestFinished(() => pool.destroy())
  const checker = new ResponseChecker()
  let reads = 0
  const read = async (coding: string) => {
    const headers = { 'accept-encoding': coding }
    const response = await pool.request({ path: `/${PATH}`, method: 'GET', headers })
    checker.check(response.statusCode, response.headers, Buffer.from(await response.body.arrayBuffer()))
    return ++reads
  }
  // Counting starts once the writer is running.
  while (checker.seen[1] === 0) await read('identity')
  const total = reads + READS
  const keepReading = async (coding: string) => {
    while ((await read(coding)) < total || !isOften) if (checker.faults.length > 20) break
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, index) => keepReading(index % 2 ? 'gzip' : 'identity')))

  const [result] = await Promise.all([once(lines, 'line'), writer.stdin.end()])
  await once(writer, 'close')
  const { swaps, last } = JSON.parse(result[0])
  expect(checker.faults).toEqual([])
  for (const coding of ['identity', 'gzip']) {
    const before = checker.seen[last]
    await read(coding)
    expect(checker.seen[last], `${coding} after the last write`).toBe(before + 1)
  }
  expect(reads).toBeGreaterThan(READS)
  expect(swaps).toBeGreaterThanOrEqual(200)
  expect(Math.min(...checker.seen)).toBeGreaterThan(READS / 20)
  expect(checker.tagCount).toBe(4)
})

it('a file that is changed in place, with its size and time as before, is noticed', async () => {
  const root = tempFolder()
  const [first, second] = [0, 5].map(seed => windowBytes([candle(START, seed)]))
  expect(first.length).toBe(second.length)
  putFile(root, PATH, first)
  const { request } = await startTestServer(root)
  expect((await request(PATH)).body.equals(first)).toBe(true)
  putFile(root, PATH, second)
  expect((await request(PATH)).body.equals(second)).toBe(true)
})

it('a file that is replaced, removed and put back is current in every response on a connection', async () => {
  const root = tempFolder()
  const { url } = await startTestServer(root)
  const client = await RawClient.open(url)
  onTestFinished(() => client.close())
  for (const [index, count] of [9, 10, undefined, 9].entries()) {
    if (count) putFile(root, PATH, makeWindow(count), RENDERED + index * 1_000)
    else rmSync(join(root, PATH))
    for (let repeat = 0; repeat < 3; repeat++) {
      client.send(getWindow())
      const { status, body } = await client.next()
      expect(status).toBe(count ? 200 : 404)
      if (count) expect(body.equals(makeWindow(count))).toBe(true)
    }
  }
})
