import { describe, expect, it } from 'vitest'
import { putFile, weekRows } from '../support/synthetic-tree.js'
import { busy, ok, redirect, reply } from './support/answers.js'
import { checkRows, HASTY } from './support/fault-row.js'
import { ALL_WINDOWS, FAULTY, usePlaces, WEEK } from './support/fault-scenario.js'
import type { FaultAnswer } from './support/fault-server.js'

const newPlace = usePlaces()
const PAGE = '<!DOCTYPE html><html><title>Sign in</title><p>Pay for this network</p></html>'
const errorObject = (status: number, message: string, cause?: unknown) =>
  JSON.stringify({ statusCode: status, message, isError: true, cause })
const json = (status: string, body: string, ...headers: string[]) =>
  reply(status, ['Content-Type: application/json', ...headers], body)
const byLibrary = true

describe('a status', () => {
  checkRows(newPlace, [
    {
      name: 'F22 404 with the error object',
      answers: json('404 Not Found', errorObject(404, 'No such window')),
      asks: 1,
      says: /status 404: No such window/,
    },
    {
      name: 'F22 404 with a web page',
      answers: reply('404 Not Found', [], PAGE),
      asks: 1,
      says: /status 404/,
      byLibrary,
    },
    { name: 'F22 404 with nothing', answers: reply('404 Not Found', [], ''), asks: 1, says: /status 404/, byLibrary },
    { name: 'F22 403, 410 and the like', answers: reply('410 Gone', [], ''), asks: 1, says: /status 410/, byLibrary },
    {
      byLibrary,
      name: 'F23 a message that would steer the terminal',
      answers: json(
        '404 Not Found',
        errorObject(404, '\u001b[2J\u001b]0;x\u0007\u009b31mred\u202e\r\n\nklines: all is well'),
      ),
      asks: 1,
      says: /status 404: \S.*red.*all is well/,
    },
    {
      name: 'F23 a message of 50 KB',
      answers: json('404 Not Found', errorObject(404, 'x'.repeat(50_000))),
      asks: 1,
      says: /status 404: x{200}\.\.\. /,
      byLibrary,
    },
    {
      name: 'F23 an error object of 1 MB',
      answers: json('404 Not Found', errorObject(404, 'x', 'y'.repeat(1_000_000))),
      asks: 1,
      says: /status 404/,
      byLibrary,
    },
    {
      name: 'F23 a cause as deep as a well',
      answers: json('404 Not Found', `{"message":"deep","cause":${'['.repeat(30_000)}${']'.repeat(30_000)}}`),
      asks: 1,
      says: /status 404: deep/,
      byLibrary,
    },
    {
      name: 'F23 a message that is no text',
      answers: json('404 Not Found', '{"message":{"toString":1},"__proto__":{"message":"x"}}'),
      asks: 1,
      says: /status 404/,
      byLibrary,
    },
    { name: 'F24 a burst of five', answers: [500, 502, 503, 504, 520].map(status => reply(`${status} X`)), asks: 6 },
    {
      byLibrary,
      name: 'F24 500 for ever',
      answers: reply('500 X', [], errorObject(500, 'Broken')),
      asks: 6,
      says: /status 500: Broken/,
    },
    {
      byLibrary,
      name: 'F25 Retry-After in the past',
      answers: [busy('Wed, 21 Oct 2015 07:28:00 GMT')],
      asks: 2,
      budgetMs: 15_000,
    },
    { name: 'F25 Retry-After that is garbage', answers: [busy('soon'), busy('-1'), busy('1e9'), busy('')], asks: 5 },
    {
      byLibrary,
      name: 'F26 a redirect to itself',
      answers: redirect(`/${FAULTY}`),
      asks: 4,
      says: /more than 3 redirects/,
    },
    { name: 'F26 no Location', answers: redirect(undefined), asks: 1, says: /302 without a Location/, byLibrary },
    { name: 'F26 a Location that is none', answers: redirect('http://[x'), asks: 1, says: /not a URL/, byLibrary },
    {
      name: 'F27 another origin',
      answers: redirect('https://example.com/x'),
      asks: 1,
      says: /https:\/\/example\.com/,
      byLibrary,
    },
    { name: 'F27 a file', answers: redirect('file:///etc/passwd'), asks: 1, says: /another origin/, byLibrary },
    {
      name: 'F27 a private address',
      answers: redirect('http://169.254.169.254/latest/meta-data', '307 X'),
      asks: 1,
      says: /another origin, http:\/\/169\.254\.169\.254/,
    },
    {
      name: 'F28 206',
      answers: reply('206 Partial Content', ['Content-Range: bytes 0-9/10']),
      asks: 3,
      says: /206, which was not asked/,
    },
    { name: 'F28 204', answers: reply('204 No Content', [], ''), asks: 3, says: /204, which was not asked/, byLibrary },
    {
      name: 'F28 304',
      answers: reply('304 Not Modified', [], ''),
      asks: 3,
      says: /304, which was not asked/,
      byLibrary,
    },
    { name: 'F28 416', answers: reply('416 X', [], ''), asks: 3, says: /416, which was not asked/, byLibrary },
    { name: 'F28 an interim answer before the real one', answers: [interim], asks: 1, byLibrary },
  ])
})

/** Early hints, then the file. */
function interim(exchange: Parameters<FaultAnswer>[0]): void | Promise<void> {
  exchange.socket.write('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n')
  return reply('200 OK')(exchange)
}

it.concurrent('F27 another server on this machine, which is not asked', async () => {
  const [place, other] = [await newPlace(), await newPlace()]
  place.server.always(FAULTY, redirect(`${other.server.url}/${FAULTY}`))
  const run = await place.downloadByLibrary()
  expect(run.code).toBe(3)
  expect(run.stderr).toContain(`redirected to another origin, ${other.server.url}, which is not followed`)
  expect(other.server.log).toEqual([])
})

it.concurrent('F26 three redirects of the same origin are followed', async () => {
  const place = await newPlace()
  const hops = ['hop/1', 'hop/2']
  place.server.script(FAULTY, redirect('/hop/1'))
  place.server.script(hops[0], redirect('2', '301 X'))
  place.server.script(hops[1], redirect(`${place.server.url}/${FAULTY}`, '308 X'))
  expect(await place.downloadByLibrary()).toMatchObject({ code: 0, stderr: '' })
  expect(place.server.log.filter(({ path }) => path.startsWith('hop')).map(({ path }) => path)).toEqual(hops)
  expect(place.desk.text('x.csv')).toBe(place.csv())
})

it.concurrent('F16 faults of several kinds at once: a line for each, with a count and names', async () => {
  const place = await newPlace()
  const [, a, b, c, d, e] = ALL_WINDOWS
  for (const path of [a, b, c]) place.server.always(path, reply('404 X', [], ''))
  place.server.always(d, reply('500 X', [], ''))
  place.server.always(e, ok('{}'))
  const run = await place.download({ policy: HASTY })
  expect(run).toMatchObject({ code: 3, stdout: '' })
  expect(run.stderr.split('\n')).toEqual([
    'klines: 5 of 8 windows could not be had, so nothing is exported:',
    '3 x status 404 (BTCUSDT 15m 2025-01-06, BTCUSDT 15m 2025-01-13, BTCUSDT 15m 2025-01-20)',
    '1 x status 500 (BTCUSDT 15m 2025-01-27)',
    '1 x expected an array of rows, got an object (BTCUSDT 15m 2025-02-03)',
    '  What was brought stays in the mirror; the same command asks only for the rest.',
    '',
  ])
  await place.expectRepair([a, b, c, d, e])
})

it.concurrent('F14 a byte order mark is accepted, and kept as it came', async () => {
  const place = await newPlace()
  putFile(place.tree, FAULTY, Buffer.concat([Buffer.from('\ufeff'), Buffer.from(JSON.stringify(weekRows(WEEK)))]))
  expect(await place.download()).toMatchObject({ code: 0, stderr: '' })
  expect(place.server.asked(FAULTY)).toHaveLength(1)
  place.expectHealthy()
  expect(place.desk.text('x.csv')).toBe(place.csv())
})
