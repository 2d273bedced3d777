import { mkdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { useSandboxes } from '../support/cli/cli-sandbox.js'
import { startTreeServer } from '../support/cli/stocked-sandbox.js'
import { startServeCommand } from '../support/servers/serve-command.js'
import { FULL_WEEKS, makeTree, putFile, weekPath } from '../support/synthetic-tree.js'
import { tempFolder } from '../support/temp-folder.js'

const newSandbox = useSandboxes()
const [WEEK] = FULL_WEEKS

const lines = (text: string) => text.trimEnd().split('\n')
const json = async (url: string) => (await fetch(url)).json()

const UPDATE = '/api/users/123e4567-e89b-12d3-a456-426614174000?notify=pigeon'
/** The status of an update that the public instance refuses. */
async function updateStatus(url: string): Promise<number> {
  const body = JSON.stringify({ email: 'a@example.com', profile: { name: 'A', age: 3 } })
  const post = { method: 'POST', headers: { 'content-type': 'application/json' }, body }
  return (await fetch(url + UPDATE, post)).status
}

describe('klines serve', () => {
  it('prints its address first; without a mirror it serves the sample and says so', async () => {
    const server = await startServeCommand(newSandbox())
    expect(await json(`${server.url}/api/klines/symbols.json`)).toEqual(['BTCUSDT', 'ETHUSDT'])
    expect(await json(`${server.url}/api/klines/1h/BTCUSDT/2025-01-01.json`)).toHaveLength(744)
    expect(await updateStatus(server.url)).toBe(400)
    const run = await server.stop()
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(lines(run.stdout)[0]).toBe(server.url)
    expect(run.stdout).toContain('synthetic sample data')
  })

  it('serves a mirror, prints its folder and its base address, and with -v each request on stderr, safe for a terminal', async () => {
    const root = makeTree(tempFolder())
    putFile(root, 'mirror.json', JSON.stringify({ layout: 1, baseUrl: 'http://example.com' }))
    const server = await startServeCommand(newSandbox(), ['--mirror', root, '-v'])
    const answer = await fetch(`${server.url}/${weekPath('BTCUSDT', WEEK)}`)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8'])
    await fetch(`${server.url}/api/klines/symbols.json?a=%1b%5b31m`)
    await fetch(`${server.url}/nowhere`, { method: 'DELETE' })
    // The last address is that which the proxy itself has seen.
    for (const from of ['192.0.2.9, 2001:db8::1', '192.0.2.1, a b', 'x'])
      await fetch(`${server.url}/healthz`, { headers: { 'x-forwarded-for': from } })
    const { stdout, stderr } = await server.stop('SIGTERM')
    expect(stdout).toContain(root)
    expect(stdout).toContain('http://example.com')
    expect(stdout).not.toContain('synthetic')
    const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z /
    const [, ...logged] = lines(stderr)
    for (const line of logged) expect(line).toMatch(time)
    const [second, third, ...forwarded] = logged.map(line => line.replace(time, ''))
    expect(second).toMatch(/^127\.0\.0\.1 GET \/api\/klines\/symbols\.json\?a=%1b%5b31m 200 \d+ B \d+\.\d ms$/)
    expect(third).toMatch(/^127\.0\.0\.1 DELETE \/nowhere 404 \d+ B \d+\.\d ms$/)
    const clients = forwarded.map(line => line.split(' GET /healthz 200 ')[0])
    expect(clients).toEqual(['2001:db8::1', '127.0.0.1', '127.0.0.1'])
  })

  it('--json prints one object, and nothing after it', async () => {
    const server = await startServeCommand(newSandbox(), ['--json', '--base-url', 'sample'])
    const run = await server.stop()
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(JSON.parse(run.stdout)).toEqual({
      url: server.url,
      mirror: expect.stringMatching(/fixtures\/sample$/),
      baseUrl: 'sample',
      sample: true,
      upstream: null,
      warnings: [],
    })
  })

  it('--upstream fetches missing windows into the mirror, which it creates', async () => {
    const sandbox = newSandbox()
    const service = await startTreeServer(sandbox)
    const location = ['--mirror', sandbox.path('m'), '--base-url', service.url]
    const server = await startServeCommand(sandbox, [...location, '--upstream'])
    for (let time = 0; time < 2; time++) {
      expect(await json(`${server.url}/${weekPath('BTCUSDT', WEEK)}`)).toHaveLength(8)
    }
    expect(service.paths()).toEqual([weekPath('BTCUSDT', WEEK)])
    const run = await server.stop()
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(run.stdout).toContain(`${service.url}.\nMissing and open windows are downloaded from there on request.\n`)
    expect(sandbox.exists(`m/${weekPath('BTCUSDT', WEEK)}`)).toBe(true)
  })

  it('finishes a response that has begun before it ends', async () => {
    const server = await startServeCommand(newSandbox(), ['-q', '--stream-text', 'a b c d e f g h i j k l'])
    const answer = await fetch(`${server.url}/api/streams/tokens`)
    const ended = server.stop('SIGTERM')
    const words = lines(await answer.text()).map(line => JSON.parse(line).message)
    expect(words.length).toBeGreaterThan(10)
    expect(await ended).toMatchObject({ code: 0, signal: null, stdout: `${server.url}\n` })
  })

  it('a folder that is named and has no mirror is served empty, says how it is filled, and has what is downloaded meanwhile', async () => {
    const sandbox = newSandbox()
    for (const folder of ['nothere', 'empty', 'new/nested']) {
      if (folder === 'empty') mkdirSync(sandbox.path(folder))
      const server = await startServeCommand(sandbox, ['--mirror', folder, '--host', '0.0.0.0'])
      expect(await json(`${server.url}/api/klines/symbols.json`)).toEqual([])
      expect([(await fetch(server.url)).status, sandbox.exists(`${folder}/mirror.json`)]).toEqual([200, false])
      const download = ['download', 'BTCUSDT', '-i', '1d', '--base-url', 'sample', '--mirror', folder, '-q']
      expect(await sandbox.call(download)).toMatchObject({ code: 0 })
      await expect.poll(() => json(`${server.url}/api/klines/symbols.json`), { timeout: 10_000 }).toEqual(['BTCUSDT'])
      expect((await fetch(`${server.url}/export/1d/BTCUSDT.csv`)).status).toBe(200)
      const { stdout, stderr } = await server.stop()
      expect(stderr).toMatch(new RegExp(`^Note: There is no mirror at ${folder} yet\\. Fill it with klines download`))
      expect(stdout).not.toContain('synthetic')
    }
    const args = ['--mirror', 'nothere2', '--json', '--base-url', 'binance']
    const { stdout } = await (await startServeCommand(sandbox, args)).stop()
    expect(JSON.parse(stdout)).toMatchObject({ sample: false, warnings: [expect.stringContaining('nothere2')] })
  })

  it('/healthz answers without a look at the mirror', async () => {
    const sandbox = newSandbox()
    mkdirSync(sandbox.path('m/api/klines'), { recursive: true })
    const server = await startServeCommand(sandbox, ['--mirror', 'm'])
    rmSync(sandbox.path('m'), { recursive: true })
    sandbox.write('m', 'no folder')
    for (const method of ['GET', 'HEAD']) {
      const answer = await fetch(`${server.url}/healthz?x`, { method })
      expect([answer.status, await answer.text()]).toEqual([200, method === 'GET' ? '{"status":"ok"}' : ''])
      const {
        'cache-control': cache,
        'content-type': type,
        'content-length': length,
      } = Object.fromEntries(answer.headers)
      expect([cache, type, length]).toEqual(['public, no-cache', 'application/json; charset=utf-8', '15'])
    }
    expect(await server.stop()).toMatchObject({ code: 0, stderr: '' })
  })

  it('a port in use is an error that says what to do', async () => {
    const busy = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void busy.close())
    await new Promise(resolve => busy.once('listening', resolve))
    const { port } = busy.address() as AddressInfo
    const run = await newSandbox().call(['serve', '--port', String(port)])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toBe(
      `klines: Cannot listen on 127.0.0.1, port ${port}: the port is in use.\n  Name an address of this machine with --host, and a free port above 1023 with --port; --port 0 picks one.\n`,
    )
  })

  it.each([
    [['--port', '70000'], '70000'],
    [['--host', '192.0.2.1'], '192.0.2.1'],
    [['--base-url', 'sample', '--upstream'], 'sample'],
    [['--base-url', 'sample', '--allow-host', 'a.com,*.b.com'], '"*.b.com"'],
  ])('%j is a usage error that shows the value', async (args, value) => {
    const run = await newSandbox().call(['serve', ...(args.includes('--port') ? [] : ['--port', '0']), ...args])
    expect(run).toMatchObject({ code: 2, stdout: '' })
    expect(run.stderr).toContain(value)
  })
})
