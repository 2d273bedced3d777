import { describe, expect, it } from 'vitest'
import { putFile, weekRows } from '../support/synthetic-tree.js'
import { EXCHANGE, SHORT_DELAYS, testFaults } from './support/fault-case.js'
import { ALL_WINDOWS, FAULTY, useFaultScenarios, WEEK } from './support/fault-scenario.js'
import type { FaultRequest } from './support/fault-server.js'
import { ok, redirect, reply } from './support/responses.js'

const newScenario = useFaultScenarios()
const PAGE = '<!DOCTYPE html><html><title>Sign in</title><p>Pay for this network</p></html>'
const errorObject = (status: number, message: string, cause?: unknown) =>
  JSON.stringify({ statusCode: status, message, isError: true, cause })
const json = (status: string, body: string, ...headers: string[]) =>
  reply(status, ['Content-Type: application/json', ...headers], body)

describe('a status', () => {
  testFaults(newScenario, [
    ['F22 404 with the error object', json('404 X', errorObject(404, 'No such window')), 1, /404: No such window/],
    ['F22 404 with a web page', reply('404 Not Found', [], PAGE), 1, /status 404/],
    [
      'F23 a message with terminal control characters',
      json('404 X', errorObject(404, '\u001b[2J\u001b]0;x\u0007\u009b31mred\u202e\r\n\nklines: all is well')),
      1,
      /status 404: \S.*red.*all is well/,
    ],
    ['F23 a message of 50 KB', json('404 X', errorObject(404, 'x'.repeat(50_000))), 1, /status 404: x{200}\.\.\. /],
    [
      'F23 a message that is not a string',
      json('404 X', '{"message":{"toString":1},"__proto__":{"message":"x"}}'),
      1,
      /status 404/,
    ],
    ['F24 five failures, then the file', [500, 502, 503, 504, 520].map(status => reply(`${status} X`)), 6],
    ['F24 500, always', reply('500 X', [], errorObject(500, 'Broken')), 6, /status 500: Broken/, EXCHANGE],
    ['F26 a redirect to itself', redirect(`/${FAULTY}`), 4, /more than 3 redirects/],
    ['F26 no Location', redirect(undefined), 1, /302 without a Location/],
    ['F27 a file', redirect('file:///etc/passwd'), 1, /another origin/],
    ['F27 a private address', redirect('http://169.254.169.254/latest', '307 X'), 1, /another origin, http:\/\/169\./],
    ['F28 304', reply('304 X', [], ''), 3, /304, which was not requested/],
    ['F28 an interim response before the real one', [sendEarlyHints], 1],
  ])
})

/** Early hints, then the file. */
function sendEarlyHints(request: FaultRequest): void | Promise<void> {
  request.socket.write('HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n')
  return reply('200 OK')(request)
}

it.concurrent('F27 a redirect to another server on this machine is not followed', async () => {
  const [scenario, other] = [await newScenario(), await newScenario()]
  scenario.server.always(FAULTY, redirect(`${other.server.url}/${FAULTY}`))
  const run = await scenario.downloadInProcess()
  expect(run.code).toBe(3)
  expect(run.stderr).toContain(`redirected to another origin, ${other.server.url}, which is not followed`)
  expect(other.server.log).toEqual([])
})

it.concurrent('F26 three redirects of the same origin are followed', async () => {
  const scenario = await newScenario()
  const hops = ['hop/1', 'hop/2']
  scenario.server.script(FAULTY, redirect('/hop/1'))
  scenario.server.script(hops[0], redirect('2', '301 X'))
  scenario.server.script(hops[1], redirect(`${scenario.server.url}/${FAULTY}`, '308 X'))
  expect(await scenario.downloadInProcess()).toMatchObject({ code: 0, stderr: '' })
  expect(scenario.server.log.filter(({ path }) => path.startsWith('hop')).map(({ path }) => path)).toEqual(hops)
  expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
})

it.concurrent('F16 faults of several kinds at once: a line for each, with a count and names', async () => {
  const scenario = await newScenario()
  const [, a, b, c, d, e] = ALL_WINDOWS
  for (const path of [a, b, c]) scenario.server.always(path, reply('404 X', [], ''))
  scenario.server.always(d, reply('500 X', [], ''))
  scenario.server.always(e, ok('{}'))
  const run = await scenario.download({ policy: SHORT_DELAYS })
  expect(run).toMatchObject({ code: 3, stdout: '' })
  expect(run.stderr.split('\n')).toEqual([
    'klines: 5 of 8 windows could not be downloaded, so nothing was exported:',
    '3 x status 404 (BTCUSDT 15m 2025-01-06, BTCUSDT 15m 2025-01-13, BTCUSDT 15m 2025-01-20)',
    '1 x status 500 (BTCUSDT 15m 2025-01-27)',
    '1 x expected an array of rows, got an object (BTCUSDT 15m 2025-02-03)',
    '  The mirror keeps what was downloaded; run the same command again to download the rest.',
    '',
  ])
  const args = scenario.args().filter(arg => arg !== '-o' && arg !== 'x.csv')
  const download = await scenario.run(args, { policy: SHORT_DELAYS })
  expect(download.stderr).toMatch(/^klines: 5 of 8 windows could not be downloaded:\n/)
  await scenario.expectRepair([a, b, c, d, e])
})

it.concurrent('F14 a byte order mark is accepted, and kept as it came', async () => {
  const scenario = await newScenario()
  putFile(scenario.tree, FAULTY, Buffer.concat([Buffer.from('\ufeff'), Buffer.from(JSON.stringify(weekRows(WEEK)))]))
  expect(await scenario.download()).toMatchObject({ code: 0, stderr: '' })
  expect(scenario.server.requestsFor(FAULTY)).toHaveLength(1)
  scenario.expectHealthy()
  expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
})
