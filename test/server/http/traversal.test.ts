import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startServer } from '../../../src/server/server.js'
import { PROJECT } from '../../support/cli/cli-sandbox.js'
import { expectError } from '../../support/servers/error-response.js'
import { RawClient, rawRequest, sendRaw } from '../../support/servers/raw-client.js'
import { candle, makeTree, NOW, putFile } from '../../support/synthetic-tree.js'
import { tempFolder } from '../../support/temp-folder.js'

const SECRET = 'no-client-may-see-this'
/** A price in a valid window outside the tree, and nowhere else. */
const SECRET_PRICE = '777.77777777'

const DOTS = '.. %2e%2e .%2e %252e%252e %c0%ae%c0%ae ..; ..%00'.split(' ')
const SLASHES = String.raw`/ // %2f \ %5c %252f`.split(' ')
const ROOTS = ['', 'http://localhost', '//localhost']
const STEMS = ['/', '/api/klines/', '/api/klines/15m/BTCUSDT/', '/docs/', '/viewer/']

/** The synthetic tree with secret files in and around it; `goals` are their paths. */
function makeTreeWithSecrets(): { root: string; goals: string[] } {
  const around = tempFolder()
  const root = makeTree(join(around, 'tree'))
  for (const path of ['secret', 'package.json', 'api/secret.json', 'api/klines/15m/secret.json', '../secret'])
    putFile(root, path, JSON.stringify([SECRET]))
  putFile(root, 'mirror.json', { layout: 1, baseUrl: 'https://mirror.example', note: SECRET })
  putFile(around, 'outside/BTCUSDT/2024-01-01.json', [candle(Date.UTC(2024, 0, 1)).with(1, SECRET_PRICE)])
  symlinkSync(join(around, 'outside'), join(root, 'api/klines/30m'))
  symlinkSync(join(around, 'secret'), join(root, 'api/klines/15m/BTCUSDT/2025-03-03.json'))
  mkdirSync(join(root, 'docs'))
  symlinkSync(around, join(root, 'docs/around'))
  const linked = ['api/klines/30m/BTCUSDT/2024-01-01.json', 'api/klines/15m/BTCUSDT/2025-03-03.json']
  const inside = ['secret', 'mirror.json', 'api/secret.json', 'docs/around/secret', 'package.json']
  return { root, goals: [...inside, ...linked, '/etc/passwd', `${PROJECT}/package.json`] }
}

it('no request reaches a file outside the tree, or one in it that is no part of the service', async () => {
  const { root, goals } = makeTreeWithSecrets()
  const errors: Error[] = []
  const server = await startServer({ root, now: () => NOW, onError: error => void errors.push(error) })
  onTestFinished(() => server.close())
  const climbs = DOTS.flatMap(dots => SLASHES.flatMap(slash => [1, 3, 6].map(steps => (dots + slash).repeat(steps))))
  const targets = [
    ...goals.map(goal => `/${goal}`),
    ...STEMS.flatMap((stem, shift) =>
      climbs.map((climb, index) => {
        const host = ROOTS[(Math.floor(index / 3) + shift) % ROOTS.length]
        const goal = index % STEMS.length === shift ? 'secret%00.json' : goals[(index + shift) % goals.length]
        return host + stem + climb + goal
      }),
    ),
  ]
  let client = await RawClient.open(server.url)
  for (const target of targets) {
    client.send(rawRequest(`GET ${target}`))
    const response = await client.next()
    const text = `${response.body.toString('latin1')}${JSON.stringify(response.headers)}`
    const leaks = [SECRET, SECRET_PRICE, 'root:x:', '"scripts"'].filter(secret => text.includes(secret))
    expect([target, leaks]).toEqual([target, []])
    expect([target, expectError(response, response.status).statusCode < 500]).toEqual([target, true])
    if (response.headers.connection !== 'close') continue
    client.close()
    client = await RawClient.open(server.url)
  }
  client.close()
  expect(errors).toEqual([])
  expect((await sendRaw(server.url, rawRequest('GET /api/klines/symbols.json'))).status).toBe(200)
})
