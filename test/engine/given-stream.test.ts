import { readdirSync } from 'node:fs'
import { Writable } from 'node:stream'
import { WritableStream } from 'node:stream/web'
import { expect, it } from 'vitest'
import { type ExportRequest, exportKlines } from '../../src/engine/export.js'
import { downloadSetup } from '../support/download-setup.js'
import { catchError } from '../support/errors.js'
import { candle, FULL_WEEKS, putFile, treeRows, weekPath } from '../support/synthetic-tree.js'

const EXPECTED = [...treeRows('BTCUSDT').values()].flat()

async function setUp() {
  const { request, folder, server, tree } = await downloadSetup()
  const run = (output: ExportRequest['output'], more: Partial<ExportRequest> = {}) =>
    exportKlines({ ...request, format: 'json', ...more, output })
  return { run, folder, server, tree }
}

/** A stream that takes a chunk only when the test lets it. */
function slowStream() {
  const chunks: Buffer[] = []
  let most = 0
  const stream = new Writable({
    highWaterMark: 64,
    write(chunk, _, done) {
      most = Math.max(most, stream.writableLength - chunk.length)
      chunks.push(chunk)
      setImmediate(done)
    },
  })
  return { stream, text: () => Buffer.concat(chunks).toString(), most: () => most }
}

it('a stream of Node gets all bytes, no faster than it takes them, and is ended', async () => {
  const { run } = await setUp()
  const { stream, text, most } = slowStream()
  const { files } = await run(stream)
  expect(JSON.parse(text())).toEqual(EXPECTED)
  expect(files).toMatchObject([{ path: '-', candles: EXPECTED.length, bytes: text().length }])
  // One chunk at a time: the next one waits until the stream wants more.
  expect(most()).toBe(0)
  expect(stream.writableFinished).toBe(true)
  expect(stream.listenerCount('error')).toBe(0)
})

it('a stream of the web gets all bytes and is closed', async () => {
  const { run } = await setUp()
  const chunks: Uint8Array[] = []
  let isClosed = false
  const web = new WritableStream<Uint8Array>({
    write: chunk => void chunks.push(chunk),
    close: () => {
      isClosed = true
    },
  })
  await run(Writable.fromWeb(web))
  expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual(EXPECTED)
  expect(isClosed).toBe(true)
})

it.each<[string, () => ExportRequest['output'] | Promise<ExportRequest['output']>]>([
  ['that has ended', () => new Writable({ write: (_, __, done) => done() }).end()],
  ['that was destroyed', () => new Writable().destroy()],
  [
    'of an export before',
    async () => {
      const { run } = await setUp()
      const stream = new Writable({ write: (_, __, done) => done() })
      await run(stream)
      return stream
    },
  ],
])('a stream %s is refused before anything is read', async (_, make) => {
  const { run, server } = await setUp()
  expect(await catchError(run(await make()))).toMatchObject({
    code: 'output_closed',
    message: expect.stringMatching(/^Cannot write to the output stream: it has /),
  })
  expect(server.log).toEqual([])
})

it('a stream that the caller ends meanwhile fails the run', async () => {
  const { run } = await setUp()
  const stream = new Writable({
    write(_, __, done) {
      stream.end()
      done()
    },
  })
  expect(await catchError(run(stream))).toMatchObject({ code: 'output_closed' })
})

it.each(['an abort while it is slow', 'a failure'])(
  'a stream is destroyed after %s, so no part is taken for the whole',
  async end => {
    const { run, tree } = await setUp()
    const stop = new AbortController()
    const isFailure = end === 'a failure'
    if (isFailure)
      putFile(tree, weekPath('BTCUSDT', FULL_WEEKS[4]), [candle(Date.parse(FULL_WEEKS[4])).with(5, '0.123456789')])
    const write = (_: unknown, __: unknown, done: () => void) => (isFailure ? done() : stop.abort(new Error('enough')))
    const stream = new Writable({ write })
    const options = isFailure ? ({ format: 'parquet', numbers: 'decimal' } as const) : { signal: stop.signal }
    expect(await catchError(run(stream, options))).toMatchObject(
      isFailure ? { code: 'digits_lost' } : { message: 'enough' },
    )
    expect([stream.destroyed, stream.writableFinished]).toEqual([true, false])
  },
)

it('an error of the stream ends the run with what is wrong', async () => {
  const { run, folder } = await setUp()
  const cause = new Error('the socket is gone')
  const stream = new Writable({ write: (_, __, done) => done(cause) })
  stream.on('error', () => {})
  expect(await catchError(run(stream))).toMatchObject({
    code: 'output_unwritable',
    message: 'Cannot write to the output stream: the socket is gone.',
    cause,
  })
  expect(readdirSync(folder).filter(name => name !== 'mirror')).toEqual([])
})
