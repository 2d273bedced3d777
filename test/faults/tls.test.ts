import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { PRESENT } from '../support/synthetic-tree.js'
import { expectUnreachable } from './support/fault-case.js'
import { ALL_WINDOWS, FAULTY, type FaultScenario, LIST, useFaultScenarios } from './support/fault-scenario.js'
import { useListening } from './support/listening.js'

const newScenario = useFaultScenarios()
const listen = useListening()
const keys = mkdtempSync(join(tmpdir(), 'klines-keys-'))
afterAll(() => rmSync(keys, { recursive: true, force: true }))

describe('F32 TLS', () => {
  const file = (name: string) => join(keys, name)
  beforeAll(() => {
    const openssl = (...args: string[]) => execFileSync('openssl', args, { cwd: keys, stdio: 'pipe' })
    const create = (name: string, host: string) => {
      const kind = 'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=test'
      openssl(...`${kind} -keyout ${name}.key -out ${name}.pem -addext subjectAltName=${host}`.split(' '))
    }
    create('good', 'IP:127.0.0.1')
    create('other', 'DNS:other.example')
  })

  /** Serves the tree over TLS; redirects the faulty window to `location`, if given. Returns the base address. */
  async function serveOverTls(scenario: FaultScenario, name: string, location?: string): Promise<string> {
    const port = await listen(
      createTlsServer(
        { key: readFileSync(file(`${name}.key`)), cert: readFileSync(file(`${name}.pem`)) },
        (request, response) => {
          request.resume()
          response.setHeader('date', new Date(PRESENT).toUTCString())
          if (request.url === `/${FAULTY}` && location !== undefined) response.writeHead(302, { location }).end()
          else response.end(readFileSync(join(scenario.tree, request.url ?? '')))
        },
      ),
    )
    return `https://127.0.0.1:${port}`
  }
  const trust = (name: string) => ({ NODE_EXTRA_CA_CERTS: file(`${name}.pem`) })

  it.concurrent('with a self-signed certificate fails', async () => {
    const scenario = await newScenario()
    await expectUnreachable(
      scenario,
      await serveOverTls(scenario, 'good'),
      // Newer versions of Node add advice.
      /TLS: self[- ]signed certificate(; [^(]*)? \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
      { advice: /NODE_EXTRA_CA_CERTS=FILE\.pem/ },
    )
  })

  it.concurrent('with the certificate of another host fails', async () => {
    const scenario = await newScenario()
    const env = trust('other')
    await expectUnreachable(
      scenario,
      await serveOverTls(scenario, 'other'),
      /TLS: .*altnames.*\(ERR_TLS_CERT_ALTNAME_INVALID\)/,
      { env },
    )
  })

  it.concurrent('with a server that does not speak it is tried once', async () => {
    const scenario = await newScenario()
    let connections = 0
    const plain = createServer(socket => {
      connections++
      socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    })
    await expectUnreachable(scenario, `https://127.0.0.1:${await listen(plain)}`, /TLS: /)
    expect(connections).toBe(1)
  })

  it.concurrent('F27 with a trusted certificate succeeds, and is never downgraded to http by a redirect', async () => {
    const scenario = await newScenario()
    const baseUrl = await serveOverTls(scenario, 'good', `${scenario.server.url}/${FAULTY}`)
    const run = await scenario.download({ baseUrl, env: trust('good') })
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toContain(`1 x redirected to another origin, ${scenario.server.url}, which is not followed`)
    expect(scenario.server.log).toEqual([])
    expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS.filter(path => path !== FAULTY), LIST].sort())
  })
})
