import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createTlsServer } from 'node:https'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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
    const make = (name: string, host: string, ...more: string[]) =>
      openssl(
        ...[
          'req',
          '-x509',
          '-newkey',
          'ec',
          '-pkeyopt',
          'ec_paramgen_curve:prime256v1',
          '-nodes',
          '-keyout',
          `${name}.key`,
        ],
        ...['-out', `${name}.pem`, '-subj', '/CN=made', '-addext', `subjectAltName=${host}`, ...more],
      )
    make('good', 'IP:127.0.0.1')
    make('other', 'DNS:other.example')
    makeLate(openssl)
  })

  /** A certificate that ran out in 2020. */
  function makeLate(openssl: (...args: string[]) => unknown): void {
    const settings = {
      ca: 'default_ca=d',
      d: 'database=index.txt\nserial=serial\nnew_certs_dir=.\ndefault_md=sha256\npolicy=p\nx509_extensions=e',
      p: 'commonName=supplied',
      e: 'subjectAltName=IP:127.0.0.1',
    }
    const text = Object.entries(settings).map(([name, lines]) => `[${name}]\n${lines}\n`)
    writeFileSync(file('ca.cnf'), text.join(''))
    writeFileSync(file('index.txt'), '')
    writeFileSync(file('serial'), '01\n')
    openssl('req', '-new', '-key', 'good.key', '-out', 'late.csr', '-subj', '/CN=made')
    openssl(
      ...['ca', '-batch', '-selfsign', '-config', 'ca.cnf', '-keyfile', 'good.key', '-in', 'late.csr', '-notext'],
      ...['-out', 'late.pem', '-startdate', '20200101000000Z', '-enddate', '20200102000000Z'],
    )
    copyFileSync(file('good.key'), file('late.key'))
  }

  /** The scenario's tree behind TLS. */
  async function tlsOf(scenario: FaultScenario, name: string, answer?: string): Promise<string> {
    const port = await listen(
      createTlsServer(
        { key: readFileSync(file(`${name}.key`)), cert: readFileSync(file(`${name}.pem`)) },
        (asked, response) => {
          asked.resume()
          if (asked.url === `/${FAULTY}` && answer !== undefined) response.writeHead(302, { location: answer }).end()
          else response.end(readFileSync(join(scenario.tree, asked.url ?? '')))
        },
      ),
    )
    return `https://127.0.0.1:${port}`
  }
  const trust = (name: string) => ({ NODE_EXTRA_CA_CERTS: file(`${name}.pem`) })

  it.concurrent('that nobody vouches for', async () => {
    const scenario = await newScenario()
    await expectUnreachable(
      scenario,
      await tlsOf(scenario, 'good'),
      /TLS: self[- ]signed certificate \(DEPTH_ZERO_SELF_SIGNED_CERT\)/,
    )
  })

  it.concurrent('of another host', async () => {
    const scenario = await newScenario()
    const env = trust('other')
    await expectUnreachable(
      scenario,
      await tlsOf(scenario, 'other'),
      /TLS: .*altnames.*\(ERR_TLS_CERT_ALTNAME_INVALID\)/,
      { env },
    )
  })

  it.concurrent('that has run out', async () => {
    const scenario = await newScenario()
    await expectUnreachable(
      scenario,
      await tlsOf(scenario, 'late'),
      /TLS: certificate has expired \(CERT_HAS_EXPIRED\)/,
      {
        env: trust('late'),
      },
    )
  })

  it.concurrent('where there is none is not asked for again', async () => {
    const scenario = await newScenario()
    let connections = 0
    const plain = createServer(socket => {
      connections++
      socket.on('error', () => {}).once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    })
    await expectUnreachable(scenario, `https://127.0.0.1:${await listen(plain)}`, /TLS: /)
    expect(connections).toBe(1)
  })

  it.concurrent('that is hung up on is tried again', async () => {
    const scenario = await newScenario()
    let connections = 0
    const rude = createServer(socket => {
      connections++
      socket.on('error', () => {}).once('data', () => socket.destroy())
    })
    await expectUnreachable(scenario, `https://127.0.0.1:${await listen(rude)}`, /connection|socket|disconnected/)
    expect(connections).toBe(6)
  })

  it.concurrent('that is sound is had', async () => {
    const scenario = await newScenario()
    const run = await scenario.download({ baseUrl: await tlsOf(scenario, 'good'), env: trust('good') })
    expect(run).toMatchObject({ code: 0, stderr: '' })
    expect(scenario.sandbox.text('x.csv')).toBe(scenario.expectedCsv())
  })

  it.concurrent('F27 is never left for http', async () => {
    const scenario = await newScenario()
    const baseUrl = await tlsOf(scenario, 'good', `${scenario.server.url}/${FAULTY}`)
    const run = await scenario.download({ baseUrl, env: trust('good') })
    expect(run).toMatchObject({ code: 3, stdout: '' })
    expect(run.stderr).toContain(`1 x redirected to another origin, ${scenario.server.url}, which is not followed`)
    expect(scenario.server.log).toEqual([])
    expect(scenario.mirroredFiles()).toEqual([...ALL_WINDOWS.filter(path => path !== FAULTY), LIST].sort())
  })
})
