import { describe, expect, it } from 'vitest'
import { filesBelow } from '../support/cli/cli-sandbox.js'
import { deferred } from '../support/deferred.js'
import { candle, putFile, windowBytes } from '../support/synthetic-tree.js'
import { asChunk, cutAt, drip, endless, hangUp, ok, raw, rows, silence } from './support/answers.js'
import { checkRows, HASTY } from './support/fault-row.js'
import { ALL_WINDOWS, FAULTY, LIST, usePlaces, WEEK } from './support/fault-scenario.js'

const newPlace = usePlaces()

const byLibrary = true
const HEAD = 'HTTP/1.1 200 OK\r\n'
const PIECE = Buffer.alloc(64 * 1024, '1')
const CUTS = ([0, 1, 'middle', -1] as const).flatMap(at => [cutAt(at, 'close'), cutAt(at, 'reset')])
/** Half a second an attempt in the place of thirty, two tries in the place of six. */
const LATE = { tries: 2, attemptMs: 500 }

describe('a connection that fails', () => {
  checkRows(newPlace, [
    {
      name: 'F02 closed before headers, twice',
      answers: [hangUp(), hangUp('reset')],
      asks: 3,
    },
    { byLibrary, name: 'F02 closed before headers, always', answers: hangUp(), asks: 6, says: /connection closed/ },
    {
      byLibrary,
      name: 'F02 reset before headers, always',
      answers: hangUp('reset'),
      asks: 6,
      says: /connection (reset|closed)/,
    },
    {
      name: 'F03 closed and reset at byte 0, 1, in the middle and at the last but one: the whole file again',
      answers: CUTS,
      asks: CUTS.length + 1,
      policy: { tries: 20 },
    },
    {
      byLibrary,
      name: 'F03 reset in the middle, always',
      answers: cutAt('middle', 'reset'),
      asks: 6,
      says: /connection (reset|closed)/,
    },
    {
      byLibrary,
      name: 'F03 closed but for one byte, always',
      answers: cutAt(-1, 'close'),
      asks: 6,
      says: /closed|announced/,
    },
    {
      byLibrary,
      name: 'F04 content-length too large, then closed',
      answers: ({ socket, file }) => void socket.end(`${HEAD}Content-Length: ${file!.length + 1}\r\n\r\n${file}`),
      asks: 6,
      says: /closed|announced/,
    },
    {
      name: 'F04 content-length too large, and open',
      answers: ({ socket, file }) => void socket.write(`${HEAD}Content-Length: ${file!.length + 1}\r\n\r\n${file}`),
      asks: 2,
      policy: LATE,
      says: /no whole answer within 0\.5 s/,
    },
    {
      name: 'F05 chunks without the last one',
      answers: ({ socket, file }) =>
        void socket.end(Buffer.concat([Buffer.from(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`), asChunk(file!)])),
      asks: 6,
      says: /closed/,
    },
    {
      byLibrary,
      name: 'F05 a chunk that is cut',
      answers: ({ socket, file }) =>
        void socket.end(
          Buffer.concat([Buffer.from(`${HEAD}Transfer-Encoding: chunked\r\n\r\n`), asChunk(file!).subarray(0, 300)]),
        ),
      asks: 6,
      says: /closed/,
    },
    {
      byLibrary,
      name: 'F05 a chunk whose size is no number',
      answers: raw(`${HEAD}Transfer-Encoding: chunked\r\n\r\nxyz\r\n[[1]]\r\n0\r\n\r\n`),
      asks: 6,
      says: /chunk/i,
    },
    {
      name: 'F06 a body that ends with its connection, cut short',
      answers: ({ socket, file }) => void socket.end(`${HEAD}\r\n${file!.subarray(0, -20)}`),
      asks: 3,
      says: /not JSON/,
    },
    {
      byLibrary,
      name: 'F06 a body that ends with its connection, cut to nothing',
      answers: ({ socket }) => void socket.end(`${HEAD}\r\n`),
      asks: 3,
      says: /the body is empty/,
    },
    {
      byLibrary,
      name: 'F06 a body that ends with its connection, whole',
      answers: ({ socket, file, times }) => void socket.end(`${HEAD}${times.join('\r\n')}\r\n\r\n${file}`),
      asks: 1,
    },
    {
      name: 'F07 content-length too small',
      answers: ({ socket, file }) => void socket.end(`${HEAD}Content-Length: ${file!.length - 20}\r\n\r\n${file}`),
      asks: 3,
      says: /not JSON/,
    },
    {
      name: 'F07 content-length too small once, and what is left over lies in the way of the next answer',
      answers: [({ socket, file }) => void socket.write(`${HEAD}Content-Length: 20\r\n\r\n${file}`)],
      asks: 2,
    },
    {
      name: 'F08 a drip that would take a minute',
      answers: drip(10, () => 500),
      asks: 2,
      policy: LATE,
      says: /within 0\.5 s/,
    },
    {
      byLibrary,
      name: 'F08 silence before the headers',
      answers: silence,
      asks: 2,
      policy: LATE,
      says: /within 0\.5 s/,
    },
    {
      byLibrary,
      name: 'F08 silence in the headers',
      answers: raw(`${HEAD}X-`),
      asks: 2,
      policy: LATE,
      says: /within 0\.5 s/,
    },
    {
      byLibrary,
      name: 'F08 silence behind the headers',
      answers: raw(`${HEAD}Content-Length: 900\r\n\r\n`),
      asks: 2,
      policy: LATE,
      says: /within 0\.5 s/,
    },
    { byLibrary, name: 'F08 silence once, then the file', answers: [silence], asks: 2, policy: LATE },
    { byLibrary, name: 'F09 segments of one byte', answers: drip(1, () => 0), asks: 1 },
    { byLibrary, name: 'F09 jitter', answers: drip(100, piece => (piece * 37) % 90), asks: 1 },
    {
      name: 'F10 a body without an end',
      answers: endless([], PIECE),
      asks: 1,
      says: /the body is larger than 8388608 bytes/,
    },
    {
      name: 'F10 chunks without an end',
      answers: endless(['Transfer-Encoding: chunked'], asChunk(PIECE)),
      asks: 1,
      says: /the body is larger than 8388608 bytes/,
    },
    {
      name: 'F10 a content-length of 10 GB',
      answers: endless(['Content-Length: 10000000000'], PIECE),
      asks: 1,
      says: /the body is larger than 8388608 bytes/,
    },
  ])
})

it.concurrent('F09 64 KB/s: a full window that takes a second and more is had at the first try', async () => {
  const place = await newPlace()
  const start = Date.parse(WEEK)
  const bytes = windowBytes(Array.from({ length: 672 }, (_, index) => candle(start + index * 900_000)))
  putFile(place.tree, FAULTY, bytes)
  place.server.always(
    FAULTY,
    drip(3_277, () => 50),
  )
  expect(await place.downloadByLibrary()).toMatchObject({ code: 0, stderr: '' })
  const [{ at }] = place.server.asked(FAULTY)
  expect(performance.now() - at).toBeGreaterThan((1_000 * bytes.length) / (64 * 1_024) - 100)
  expect(place.server.asked(FAULTY)).toHaveLength(1)
  expect(place.held()).toEqual([...ALL_WINDOWS, LIST].sort())
})

it.concurrent('F10 bodies right below the cap, 64 at once: memory is that of a few', async () => {
  const place = await newPlace()
  const weeks = Array.from({ length: 64 }, (_, week) => new Date(Date.UTC(2023, 0, 2 + 7 * week)))
  const row = '[0,"0","0","0","0","0",0,"0",0,"0","0","0"]'
  const body = Buffer.from(`[${`${row},`.repeat(Math.floor((8 * 1024 * 1024 - 2) / (row.length + 1)) - 1)}${row}]`)
  const gate = deferred()
  place.server.always(LIST, rows(weeks.map(week => week.toISOString().slice(0, 10))))
  place.server.everywhere(async exchange => {
    if (place.server.windows().length === weeks.length) gate.resolve()
    await gate.promise
    return ok(body)(exchange)
  })
  const run = await place.download({ args: ['--concurrency', '64'], policy: { ...HASTY, invalidTries: 1 } })
  expect(run).toMatchObject({ code: 3, stdout: '' })
  expect(run.stderr).toMatch(
    /^klines: 64 of 64 [^\n]*\n64 x the body is no list of rows: it has 83\d{5} bytes, expected at most 1048576 \(/,
  )
  expect(place.server.peak).toBe(weeks.length)
  expect(filesBelow(place.mirror)).toEqual(['CACHEDIR.TAG', LIST, 'mirror.json'])
  await place.expectRepair(ALL_WINDOWS)
})
