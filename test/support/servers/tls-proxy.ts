import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { connect } from 'node:net'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { tempFolder } from '../temp-folder.js'
import { listen } from './listen.js'

/**
 * Another server in the place of `https://HOST`: a proxy of a company, with a certificate of its own. Returns the variables for it. Needs
 * openssl.
 */
export async function startTlsProxy(host: string, target: string): Promise<Record<string, string>> {
  const keys = tempFolder()
  const kind =
    'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=test -keyout a.key -out a.pem'
  execFileSync('openssl', [...kind.split(' '), '-addext', `subjectAltName=DNS:${host}`], { cwd: keys, stdio: 'pipe' })
  const read = (name: string) => readFileSync(join(keys, name))
  const { hostname, port } = new URL(target)
  const secure = createTlsServer({ key: read('a.key'), cert: read('a.pem') }, (incoming, outgoing) => {
    const { url: path, method, headers } = incoming
    const sent = request({ hostname, port, path, method, headers }, answer => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(sent)
  })
  const securePort = await listen(secure, 0)
  const proxy = createServer().on('connect', ({ url }, socket, head) => {
    if (url !== `${host}:443`) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n')
    const tunnel = connect(securePort, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      tunnel.write(head)
      tunnel.pipe(socket).pipe(tunnel)
    })
    for (const side of [socket, tunnel]) side.on('error', () => {})
  })
  const proxyPort = await listen(proxy, 0)
  onTestFinished(() => {
    for (const server of [secure, proxy]) server.close()
    secure.closeAllConnections()
  })
  return { HTTPS_PROXY: `http://127.0.0.1:${proxyPort}`, NODE_EXTRA_CA_CERTS: join(keys, 'a.pem') }
}
