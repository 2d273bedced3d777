import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { PassThrough, Writable } from 'node:stream'
import { WritableStream } from 'node:stream/web'
import { expect, it } from 'vitest'
import { type ExportRequest, exportKlines } from '../../../src/engine/export.js'
import { downloadSetup } from '../../support/download-setup.js'
import { catchError } from '../../support/errors.js'
import { treeRows, weekPath } from '../../support/synthetic-tree.js'

const EXPECTED = [...treeRows('BTCUSDT').values()].flat()

async function setUp() {
  const { request, folder, server } = await downloadSetup()
  const run = (output: ExportRequest['output'], more: Partial<ExportRequest> = {}) =>
    exportKlines({ ...request, format: 'json', ...more, output })
  return { run, folder, server }
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
  const stream = new WritableStream<Uint8Array>({
    write: chunk => void chunks.push(chunk),
    close: () => {
      isClosed = true
    },
  })
  await run(stream)
  expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual(EXPECTED)
  expect(isClosed).toBe(true)
})

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
  const failing = new WritableStream({ write: () => Promise.reject(cause) })
  expect(await catchError(run(failing))).toMatchObject({ code: 'output_unwritable' })
  expect(readdirSync(folder).filter(name => name !== 'mirror')).toEqual([])
})

it('a stream that is closed while it is full ends the run', async () => {
  const { run } = await setUp()
  const stream = new PassThrough({ highWaterMark: 1 })
  const failed = catchError(run(stream))
  await once(stream, 'readable')
  stream.destroy()
  expect(await failed).toMatchObject({ code: 'output_closed' })
})

it('an abort while the stream is full ends the run with its reason, and destroys the stream', async () => {
  const { run } = await setUp()
  const stop = new AbortController()
  const stream = new PassThrough({ highWaterMark: 1 })
  stream.on('error', () => {})
  const failed = catchError(run(stream, { signal: stop.signal }))
  await once(stream, 'readable')
  const reason = new Error('enough')
  stop.abort(reason)
  expect(await failed).toBe(reason)
  expect(stream.destroyed).toBe(true)
})

it('a run that fails before the first byte leaves the stream as it was', async () => {
  const { run, server } = await setUp()
  server.always(weekPath('BTCUSDT', '2025-01-06'), { status: 404 })
  const stream = new PassThrough()
  expect(await catchError(run(stream))).toMatchObject({ code: 'incomplete' })
  expect([stream.destroyed, stream.writableEnded, stream.readableLength]).toEqual([false, false, 0])
})
