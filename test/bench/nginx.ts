import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { closedPort } from '../support/servers/closed-port.js'
import { findProgram } from './programs.js'
import type { Workspace } from './workspace.js'

export interface NginxOptions {
  /** Compress JSON responses. Default false, as in Debian's configuration. */
  readonly gzip?: boolean
}

/** An nginx that serves the slice. */
export interface Nginx {
  readonly url: string
  readonly port: number
  end(): Promise<void>
}

/** Starts nginx with one worker on a free port of the loopback, otherwise with Debian's settings. It stops with the workspace. */
export async function startNginx(workspace: Workspace, { gzip = false }: NginxOptions = {}): Promise<Nginx> {
  const port = await closedPort()
  const folder = workspace.path(`nginx-${port}`)
  mkdirSync(folder)
  writeFileSync(join(folder, 'nginx.conf'), configuration({ port, folder, root: workspace.slice, gzip }))
  const args = ['-p', folder, '-c', 'nginx.conf', '-e', 'errors.log', '-g', 'daemon off;']
  const child = spawn(findProgram('nginx') as string, args, { stdio: 'ignore' })
  const end = () => endServer(child)
  workspace.defer(end)
  const url = `http://127.0.0.1:${port}`
  await untilReady(`${url}/api/klines/symbols.json`)
  return { url, port, end }
}

type Settings = Required<NginxOptions> & { port: number; folder: string; root: string }

function configuration({ port, folder, root, gzip }: Settings): string {
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  return `${process.getuid?.() === 0 ? 'user root;' : ''}
worker_processes 1;
pid ${folder}/nginx.pid;
events { worker_connections 768; }
http {
  ${temporary.map(name => `${name}_temp_path ${folder}/${name};`).join('\n  ')}
  types { application/json json; }
  access_log off;
  sendfile on;
  tcp_nopush on;
  gzip ${gzip ? 'on' : 'off'};
  gzip_types application/json;
  server {
    listen 127.0.0.1:${port};
    root ${root};
  }
}
`
}

/** Resolves when the address responds with 200. Throws after two seconds. */
async function untilReady(url: string): Promise<void> {
  for (const started = performance.now(); ; ) {
    const status = await fetch(url).then(
      async response => {
        await response.arrayBuffer()
        return response.status
      },
      error => String(error.cause ?? error),
    )
    if (status === 200) return
    if (performance.now() - started > 2_000) throw new Error(`nginx does not serve the slice: ${status}`)
    await new Promise(resolve => setTimeout(resolve, 20))
  }
}

async function endServer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  await once(child, 'exit')
}
