import { createHash } from 'node:crypto'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startServer } from '../../../src/server/server.js'
import { cases } from '../../support/cases.js'
import { PROJECT } from '../../support/cli/cli-sandbox.js'
import { filesBelow } from '../../support/files-below.js'
import { Random } from '../../support/random.js'
import { expectError } from '../../support/servers/error-response.js'
import { USER_BODY, USER_PATH } from '../../support/servers/http-server.js'
import { sendPipelined } from '../../support/servers/pipelining-client.js'
import { rawRequest, sendRaw } from '../../support/servers/raw-client.js'
import { candle, makeTree, NOW, putFile } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const COUNT = cases(6_000, 3_000)
const SECRET = 'no-client-may-see-this'
/** A price in a valid window outside the tree, and nowhere else. */
const SECRET_PRICE = '777.77777777'

const DOTS = '.. %2e%2e %2E%2e .%2e %2E. %252e%252e %%32%65%%32%65 %c0%ae%c0%ae %e0%80%ae%e0%80%ae'.split(' ')
const MORE_DOTS = '... ....// ..; ..%00 ..%20 %u002e%u002e %ef%bc%8e%ef%bc%8e %e2%80%a5 . %2e ~'.split(' ')
const SLASHES = String.raw`/ // %2f %2F %5c \ %252f %255c %c0%af %e0%80%af %ef%bc%8f /./ ;/`.split(' ')
const ENDS = [
  '',
  '',
  '',
  '%00',
  '%00.json',
  '?',
  '?x=..%2f',
  '#',
  '#/../',
  ';',
  ';.json',
  '%20',
  '.',
  '/',
  '%0a',
  '%0d%0aX:%20y',
  '~',
  '::$DATA',
]
const STEMS = '/ /api/ /api/klines/ /api/klines/15m/ /api/klines/15m/BTCUSDT/ /api/klines/start-dates/'.split(' ')
const MORE_STEMS = [
  ...'/docs/ /docs/page.js/ /chart/ /viewer/ /api/users/ /api/static/ /api/streams/'.split(' '),
  '/api/klines/30m/BTCUSDT/',
]
const ROOTS = [
  '',
  '',
  '',
  '',
  'http://localhost',
  'HTTP://127.0.0.1:80',
  'http://[::1]',
  '//localhost',
  'file://localhost',
]

/** The synthetic tree with secret files in and around it; `goals` are their paths. */
function makeTreeWithSecrets(): { root: string; goals: string[] } {
  const around = tempFolder()
  const root = makeTree(join(around, 'tree'))
  const paths = [
    'secret',
    'package.json',
    'api/secret',
    'api/secret.json',
    'api/klines/secret',
    'api/klines/secret.json',
  ]
  for (const path of [...paths, 'api/klines/15m/secret.json', 'api/users/secret', '../secret', '../secret.json']) {
    putFile(root, path, JSON.stringify([SECRET]))
  }
  putFile(root, 'mirror.json', { layout: 1, baseUrl: 'https://mirror.example', note: SECRET })
  const row = candle(Date.UTC(2024, 0, 1))
  putFile(around, 'outside/BTCUSDT/2024-01-01.json', [row.with(1, SECRET_PRICE)])
  putFile(around, 'outside/2025-03-03.json', [candle(Date.UTC(2025, 2, 3)).with(1, SECRET_PRICE)])
  putFile(around, 'outside/4h.json', ['2017-07-01', SECRET])
  symlinkSync(join(around, 'outside'), join(root, 'api/klines/30m'))
  symlinkSync(join(around, 'outside/2025-03-03.json'), join(root, 'api/klines/15m/BTCUSDT/2025-03-03.json'))
  symlinkSync(join(around, 'outside/4h.json'), join(root, 'api/klines/start-dates/4h.json'))
  mkdirSync(join(root, 'docs'))
  symlinkSync(around, join(root, 'docs/around'))
  const inside = ['secret', 'secret.json', 'mirror.json', 'api/secret', 'api/secret.json', 'docs/around/secret']
  const linked = [
    'api/klines/30m/BTCUSDT/2024-01-01.json',
    'api/klines/15m/BTCUSDT/2025-03-03.json',
    'klines/secret.json',
  ]
  const absolute = [join(around, 'secret'), join(root, 'secret'), '/etc/passwd', `${PROJECT}/package.json`]
  return {
    root,
    goals: [...inside, ...linked, ...absolute, 'api/klines/start-dates/4h.json', 'package.json', 'swagger-ui.js'],
  }
}

/** A request target that tries to reach one of the goals. */
function randomTarget(random: Random, goals: readonly string[]): string {
  const stem = random.pick([...STEMS, ...MORE_STEMS])
  const steps = random.below(20) === 0 ? 200 : random.below(9)
  const [dots, slash] = [random.pick([...DOTS, ...MORE_DOTS]), random.pick(SLASHES)]
  const mixed = random.below(3) === 0
  const step = () => (mixed ? random.pick([...DOTS, ...MORE_DOTS]) + random.pick(SLASHES) : dots + slash)
  const path = random.pick(goals).replaceAll('/', random.below(2) === 0 ? '/' : slash)
  const query = stem === '/api/users/' ? '?notify=email' : ''
  return random.pick(ROOTS) + stem + Array.from({ length: steps }, step).join('') + path + random.pick(ENDS) + query
}

function randomRequest(random: Random, goals: readonly string[]): Buffer {
  const method = random.pick(['GET', 'GET', 'GET', 'GET', 'HEAD', 'POST'])
  const coding = random.below(4) === 0 ? ['Accept-Encoding: identity;q=0.5, gzip;q=0'] : []
  if (method !== 'POST') return rawRequest(`${method} ${randomTarget(random, goals)}`, coding)
  const headers = ['Content-Type: application/json', `Content-Length: ${USER_BODY.length}`]
  return rawRequest(`POST ${randomTarget(random, goals)}`, headers, USER_BODY)
}

const digest = (body: Buffer) => createHash('sha1').update(body).digest('hex')

it(`${COUNT} requests reach no file outside the tree`, async () => {
  const { root, goals } = makeTreeWithSecrets()
  const errors: Error[] = []
  const server = await startServer({ root, now: () => NOW, onError: error => void errors.push(error) })
  onTestFinished(() => server.close())
  const fetchBody = async (path: string) => (await sendRaw(server.url, rawRequest(`GET ${path}`))).body
  const pageFiles = [
    '/',
    '/docs/page.js',
    '/docs/page.css',
    '/docs/favicon.svg',
    '/docs/swagger-ui.css',
    '/docs/swagger-ui-bundle.js',
    '/chart',
    '/viewer/main.js',
    '/viewer/viewer.css',
  ]
  const lists = ['symbols', 'start-dates/15m', 'start-dates/30m', 'start-dates/4h'].map(
    name => `/api/klines/${name}.json`,
  )
  const known = new Set<string>([digest(Buffer.from('[]'))])
  for (const path of [...pageFiles, ...lists, '/api/openapi.json', '/api/static/openapi.json'])
    known.add(digest(await fetchBody(path)))
  for (const date of filesBelow(join(root, 'api/klines/15m/ETHUSDT')))
    known.add(digest(await fetchBody(`/api/klines/15m/ETHUSDT/${date}`)))

  const random = new Random(20_250_212)
  const requests = Array.from({ length: COUNT }, () => randomRequest(random, goals))
  const direct = [...goals.map(goal => `/${goal}`), ...lists, ...pageFiles].map(path => rawRequest(`GET ${path}`))
  const statuses = new Map<number, number>()
  const seen = new Set<string>()
  await sendPipelined(server.url, [...direct, ...requests], (response, request) => {
    const { status, body, headers } = response
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    const line = request.toString('latin1').split('\r\n', 1)[0]
    // Most responses are equal: each is checked once.
    const [method] = line.split(' ')
    const key = digest(Buffer.from(JSON.stringify([method, status, headers, digest(body)])))
    if (seen.has(key)) return
    seen.add(key)
    const text = `${body.toString('latin1')}${JSON.stringify(headers)}`
    const leaks = [SECRET, SECRET_PRICE, 'root:x:', '"scripts"'].filter(secret => text.includes(secret))
    expect([line, leaks]).toEqual([line, []])
    if (line.startsWith('HEAD ')) expect([line, status < 500]).toEqual([line, true])
    else if (status >= 400) expect([line, expectError(response, status).statusCode < 500]).toEqual([line, true])
    else if (!line.startsWith('POST ')) expect([line, status, known.has(digest(body))]).toEqual([line, 200, true])
  })
  expect(errors).toEqual([])
  const total = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  expect(total).toBe(requests.length + direct.length)
  // Statuses of all kinds occur, so the requests reached every part of the server.
  for (const status of [200, 400, 404, 405]) expect([status, (statuses.get(status) ?? 0) > 10]).toEqual([status, true])
  expect(String(await fetchBody('/api/klines/symbols.json'))).toBe('["BTCUSDT","ETHUSDT"]')
  expect((await sendRaw(server.url, rawRequest(`POST ${USER_PATH}/..`))).status).toBe(404)
})
